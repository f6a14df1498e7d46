// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.explorer.CorePhase;

/** One contender, and the core's view of it. */
final class RedisContenderModel implements Cloneable {
    final int client;
    final boolean waits;
    RedisContenderState protocol = RedisContenderState.INITIAL;
    CorePhase core = CorePhase.NEW;
    Cleanup cleanup = Cleanup.NONE;
    boolean woken;
    boolean gaveUp;
    boolean registered;
    /** The token of the grant that the core was told of; 0 if none. */
    long granted;
    /** Whether the core has released with a delay. */
    boolean delayed;

    boolean abandoned;
    /** Whether the time runs after which an abandoned contender has expired. */
    boolean expiring;
    /** The connection of the grant that is being confirmed; 0 if there is none. */
    int confirming;
    /** The connection of the last hand-off message. */
    int messageEpoch;

    String lastMessage = "";
    Found found = Found.NOTHING;
    /** The token of the grant that is believed in; 0 if none. */
    long token;
    /** Until when, where leases end by the clock. */
    long validUntil;

    RedisContenderModel(int client, boolean waits) {
        this.client = client;
        this.waits = waits;
    }

    RedisContenderModel copy() {
        try {
            return (RedisContenderModel) clone();
        } catch (CloneNotSupportedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The repetition of a removal in the background. */
    enum Cleanup {
        NONE,
        DUE,
        RUNNING
    }

    /** The entry that the last removal of a contender that ends has found in the store. */
    enum Found {
        NOTHING,
        ENTRY,
        GRANT
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.contender;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.redis.node.ServerTime;

/**
 * Tracks the acquire requests of one contender that received no reply, and that the server may still execute. See rule S8. A
 * request can no longer be executed when a later one had a reply on the same connection, or when the server's clock has passed
 * the time after which the script refuses it. Thread-safe.
 */
final class RedisInDoubtAcquireTracker {
    @GuardedBy("this")
    private boolean any;

    @GuardedBy("this")
    private int lowestEpoch;

    @GuardedBy("this")
    private int highestEpoch;

    @GuardedBy("this")
    private ServerTime latestNotAfter = ServerTime.UNKNOWN;

    /** Adds a request without a reply that was sent in this epoch or later. */
    synchronized void add(int epoch, ServerTime notAfter) {
        lowestEpoch = any ? Math.min(lowestEpoch, epoch) : epoch;
        highestEpoch = any ? Math.max(highestEpoch, epoch) : epoch;
        latestNotAfter = any && notAfter.isBefore(latestNotAfter) ? latestNotAfter : notAfter;
        any = true;
    }

    /** Returns whether any request may still be executed. */
    synchronized boolean any() {
        return any;
    }

    /**
     * Records the reply to a later request.
     *
     * @param epoch the epoch of the connection on which the reply came
     * @param time the server's time in that reply
     * @return whether no earlier request can be executed any more
     */
    synchronized boolean resolvedBy(int epoch, ServerTime time) {
        boolean allBefore = lowestEpoch == epoch && highestEpoch == epoch;
        any = any && !allBefore && !latestNotAfter.isBefore(time);
        return !any;
    }
}

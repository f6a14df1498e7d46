// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.spi.MonotonicInstant;

/**
 * A master's reply to the handshake on one connection. Its votes count only while that connection is the current one.
 *
 * @param node node of the connection
 * @param epoch epoch of the connection
 * @param runId Redis run id of the master's process
 * @param state state of the master at the time of the handshake
 * @param agreesOnMaxLease whether the master stores the same longest lease as this client, or none
 * @param received time when the reply arrived
 */
public record MasterHandshakeReply(
        RedisNodeClient node,
        int epoch,
        String runId,
        QuarantinePolicy.MasterState state,
        boolean agreesOnMaxLease,
        MonotonicInstant received) {
    boolean isVoting() {
        return state.voting() && agreesOnMaxLease && isCurrent();
    }

    /** Returns whether the connection of this handshake is still the current one. */
    public boolean isCurrent() {
        return node.epoch() == epoch && node.isConnected();
    }

    TestOnlyQuarantineExemptions.Incarnation incarnation() {
        return new TestOnlyQuarantineExemptions.Incarnation(runId, state.quarantinedSince());
    }

    QuarantinePolicy.MasterState stateAt(MonotonicInstant instant) {
        return state.after(received.until(instant));
    }
}

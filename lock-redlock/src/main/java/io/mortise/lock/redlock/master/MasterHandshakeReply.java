// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.spi.MonotonicTime;

/**
 * Reply of a master to the handshake on one connection. Its votes count only while that connection is the current one.
 *
 * @param node node of that connection
 * @param epoch epoch of that connection
 * @param runId the Redis run id of its process
 * @param state the master's state at that time
 * @param agreesOnMaxLease whether the master stores no other longest lease than this client has
 * @param received when the answer arrived
 */
public record MasterHandshakeReply(
        RedisNodeClient node,
        int epoch,
        String runId,
        QuarantinePolicy.MasterState state,
        boolean agreesOnMaxLease,
        MonotonicTime received) {
    boolean isVoting() {
        return state.voting() && agreesOnMaxLease && isCurrent();
    }

    /** Returns whether its connection is still the current one. */
    public boolean isCurrent() {
        return node.epoch() == epoch && node.isConnected();
    }

    QuarantineExemptMasters.Incarnation incarnation() {
        return new QuarantineExemptMasters.Incarnation(runId, state.quarantinedSince());
    }

    QuarantinePolicy.MasterState stateAt(MonotonicTime instant) {
        return state.after(received.until(instant));
    }
}

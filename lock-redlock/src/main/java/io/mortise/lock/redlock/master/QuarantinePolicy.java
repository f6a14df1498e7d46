// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.redlock.vote.Quorum;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Decides when a master that may have forgotten its votes leaves quarantine. Pure.
 *
 * <p>Such a master was restarted, empty or with old data, or its data was deleted. It stays in quarantine until every lease that it
 * may have voted for has ended, and then takes over counters that are above every token given before.
 *
 * <p>Nothing that a master stores can prove that it has never voted: the data, the script cache and the statistics can all be
 * deleted while its process runs. So the quarantine counts from when a client first saw that the master may have forgotten votes,
 * also for a master that is new (ADR 0029).
 *
 * @param quorum of all masters
 * @param maxLease no client of the namespace ever asks for a longer lease
 * @param isNew whether the master is new and has not voted since: known in tests alone, see {@link QuarantineExemptMasters}
 */
record QuarantinePolicy(Quorum quorum, Duration maxLease, boolean isNew) {
    /**
     * What a master reports about itself. Times are those of its own clock.
     *
     * @param voting whether it still knows, in this run of its process, that it left quarantine
     * @param everVoted whether it still knows that it ever left quarantine
     * @param maxLease the longest lease that the clients of the namespace agreed on, if it still knows that
     * @param quarantinedSince when a client first saw it in quarantine; empty if it votes
     */
    record MasterState(
            boolean voting,
            boolean everVoted,
            Optional<Duration> maxLease,
            Optional<ServerTime> quarantinedSince,
            ServerTime now) {
        /** Returns the same state some time later. */
        MasterState after(Duration time) {
            return new MasterState(voting, everVoted, maxLease, quarantinedSince, now.plus(time));
        }

        /** Returns whether a client with this maximum may count on the master. */
        boolean agreesOnMaxLease(Duration expected) {
            return maxLease.orElse(expected).equals(expected);
        }

        /** Returns whether the master has no data of the namespace. */
        boolean isEmpty() {
            return !everVoted && maxLease.isEmpty();
        }
    }

    /** State of another master, as far as the decision depends on it. */
    enum PeerState {
        /** It votes, and its counters can be read. */
        VOTING,
        /** It answers, and may have forgotten votes. */
        QUARANTINED,
        /** It answers, and has no data. */
        EMPTY,
        /** It answers, and stores another longest lease than this client has: one of the two is wrong. */
        MAX_LEASE_DIFFERS,
        /** It does not answer. */
        UNREACHABLE
    }

    /** What the client does with the master. */
    sealed interface Decision {
        /** The master votes already. */
        record AlreadyVoting() implements Decision {}

        /** The master stays in quarantine for that time. */
        record Stay(Duration time) implements Decision {}

        /** This client must not decide, since its longest lease may be wrong. */
        record MaxLeaseConflict() implements Decision {}

        /**
         * The master leaves quarantine, with counters not below those of all others that answer.
         *
         * @param raiseToClock whether its counters are also raised to its clock, since the others may not know all
         */
        record Leave(boolean raiseToClock) implements Decision {}
    }

    Decision decide(MasterState state, List<PeerState> others) {
        if (!state.agreesOnMaxLease(maxLease)) {
            return new Decision.MaxLeaseConflict();
        }
        if (state.voting()) {
            return new Decision.AlreadyVoting();
        }
        if (others.contains(PeerState.MAX_LEASE_DIFFERS)) {
            return new Decision.MaxLeaseConflict();
        }
        if (isNew) {
            return new Decision.Leave(true);
        }
        ServerTime now = state.now();
        ServerTime quarantineEnd = state.quarantinedSince().orElse(now).plus(maxLease);
        if (now.isBefore(quarantineEnd)) {
            return new Decision.Stay(now.until(quarantineEnd));
        }
        long voting = count(others, PeerState.VOTING);
        if (voting >= quorum.recoveryQuorum()) {
            return new Decision.Leave(false);
        }
        if (voting + count(others, PeerState.UNREACHABLE) < quorum.recoveryQuorum()) {
            return new Decision.Leave(true); // no master that could come back knows more
        }
        ServerTime peersAwaitedUntil = quarantineEnd.plus(maxLease);
        return now.isBefore(peersAwaitedUntil)
                ? new Decision.Stay(now.until(peersAwaitedUntil))
                : new Decision.Leave(true);
    }

    private static long count(List<PeerState> others, PeerState state) {
        return others.stream().filter(other -> other == state).count();
    }
}

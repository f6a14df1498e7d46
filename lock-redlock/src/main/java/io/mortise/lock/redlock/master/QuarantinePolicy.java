// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.redlock.vote.Quorum;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Decides when a master that may have forgotten its votes leaves quarantine. Pure.
 *
 * <p>Such a master was restarted, empty or with old data, or its data was deleted. It stays in quarantine until every lease
 * that it may have voted for has ended. Then its counters are raised above every token that was issued before.
 *
 * <p>Nothing that a master stores can prove that it has never voted: the data, the script cache and the statistics can all be
 * deleted while its process runs. So the quarantine starts when a client first sees that the master may have forgotten votes,
 * even if the master is new (ADR 0029).
 *
 * @param quorum quorum of all masters
 * @param maxLease longest lease that any client of the namespace requests
 * @param isNew whether the master is new and has never voted; true only in tests, see {@link TestOnlyQuarantineExemptions}
 */
record QuarantinePolicy(Quorum quorum, Duration maxLease, boolean isNew) {
    /** Longest time between two handshakes with a master that stays in quarantine. */
    static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);

    private static final Duration SHORTEST_PAUSE = Duration.ofMillis(250);

    /** Longest additional delay of what all clients do when a quarantine ends. */
    static final Duration LONGEST_JITTER = Duration.ofMillis(250);

    /** Shortest time between two handshakes around the end of a quarantine, when the clocks may differ by a little. */
    private static final Duration SHORTEST_PAUSE_AT_END = Duration.ofMillis(10);

    /**
     * State of a master as the master itself reports it, with times of its own clock.
     *
     * @param voting whether the master stores that it left quarantine in this run of its process
     * @param everVoted whether the master stores that it ever left quarantine
     * @param maxLease longest lease that the clients of the namespace agreed on, if the master still stores it
     * @param quarantinedSince time when a client first saw the master in quarantine; empty if the master votes
     * @param now time of the report
     */
    record MasterState(
            boolean voting,
            boolean everVoted,
            Optional<Duration> maxLease,
            Optional<ServerTime> quarantinedSince,
            ServerTime now) {
        /** Returns the same state after the given time has passed. */
        MasterState after(Duration time) {
            return new MasterState(voting, everVoted, maxLease, quarantinedSince, now.plus(time));
        }

        /** Returns whether the master stores this longest lease, or none. */
        boolean agreesOnMaxLease(Duration expected) {
            return maxLease.orElse(expected).equals(expected);
        }

        /** Returns whether the master has no data of the namespace. */
        boolean isEmpty() {
            return !everVoted && maxLease.isEmpty();
        }
    }

    /** State of another master that influences the decision. */
    enum PeerState {
        /** The master votes, and its counters can be read. */
        VOTING,
        /** The master replies, but may have forgotten votes. */
        QUARANTINED,
        /** The master replies, but has no data. */
        EMPTY,
        /** The master replies, but stores a longest lease that differs from the one of this client. */
        MAX_LEASE_DIFFERS,
        /** The master votes, but did not reply to the request for its counters. */
        UNREAD,
        /** The master does not reply. */
        UNREACHABLE;

        /** Returns the state of the same master if its counters have not been read. */
        PeerState withoutCounters() {
            return this == VOTING ? UNREAD : this;
        }
    }

    /** Decision about one master. */
    sealed interface Decision {
        /** The master votes already. */
        record AlreadyVoting() implements Decision {}

        /** The master stays in quarantine for the given time. */
        record Stay(Duration time) implements Decision {}

        /** The client must not decide, since its longest lease may be wrong. */
        record MaxLeaseConflict() implements Decision {}

        /**
         * The master leaves quarantine, with counters that are not below those of any other voting master.
         *
         * @param raiseToClock whether the counters are also raised to the master's clock, since its peers may not know all
         *     tokens
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
        if (voting + count(others, PeerState.UNREACHABLE) < quorum.recoveryQuorum()
                && !others.contains(PeerState.UNREAD)) {
            return new Decision.Leave(true); // unreachable masters could not complete the recovery quorum
        }
        ServerTime peersAwaitedUntil = quarantineEnd.plus(maxLease);
        return now.isBefore(peersAwaitedUntil)
                ? new Decision.Stay(now.until(peersAwaitedUntil))
                : new Decision.Leave(true);
    }

    /**
     * Returns the time until the next handshake with a master after this decision; empty if it votes or is about to.
     *
     * <p>The handshake that matters is due when the quarantine ends. The others notice what no message announces: a change of
     * the longest lease, or another loss of data, from which the quarantine counts again. The longer the quarantine has lasted,
     * the fewer they are.
     *
     * @param jitter delay of the handshake that is due when the quarantine ends, for all clients know the same end
     */
    static Optional<Duration> untilNextHandshake(MasterState state, Decision decision, Duration jitter) {
        if (decision instanceof Decision.MaxLeaseConflict) {
            return Optional.of(LONGEST_PAUSE);
        }
        if (!(decision instanceof Decision.Stay stay)) {
            return Optional.empty();
        }
        Duration lasted = state.quarantinedSince().orElse(state.now()).until(state.now());
        Duration pause = Durations.longer(SHORTEST_PAUSE, Durations.shorter(lasted, LONGEST_PAUSE));
        Duration untilEnd = stay.time().plus(jitter);
        return Optional.of(Durations.longer(SHORTEST_PAUSE_AT_END, Durations.shorter(pause, untilEnd)));
    }

    private static long count(List<PeerState> others, PeerState state) {
        return others.stream().filter(other -> other == state).count();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import static io.mortise.lock.redlock.master.QuarantinePolicy.PeerState.EMPTY;
import static io.mortise.lock.redlock.master.QuarantinePolicy.PeerState.MAX_LEASE_DIFFERS;
import static io.mortise.lock.redlock.master.QuarantinePolicy.PeerState.QUARANTINED;
import static io.mortise.lock.redlock.master.QuarantinePolicy.PeerState.UNREACHABLE;
import static io.mortise.lock.redlock.master.QuarantinePolicy.PeerState.UNREAD;
import static io.mortise.lock.redlock.master.QuarantinePolicy.PeerState.VOTING;
import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.redlock.master.QuarantinePolicy.Decision;
import io.mortise.lock.redlock.master.QuarantinePolicy.MasterState;
import io.mortise.lock.redlock.master.QuarantinePolicy.PeerState;
import io.mortise.lock.redlock.vote.Quorum;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * Tests how long {@link QuarantinePolicy} keeps a master in quarantine.
 *
 * <p>Most tests have three masters. The longest lease is 100 s, and the current time is second 1000.
 */
class QuarantinePolicyTest {
    private static final Duration LEASE = Duration.ofSeconds(100);
    private static final Duration JITTER = Duration.ofMillis(7);
    private static final ServerTime NOW = at(1000);

    private static ServerTime at(long seconds) {
        return ServerTime.UNKNOWN.plus(Duration.ofSeconds(seconds));
    }

    private static Decision decide(MasterState state, PeerState... others) {
        return new QuarantinePolicy(new Quorum(others.length + 1), LEASE, false).decide(state, List.of(others));
    }

    private static Decision decideNew(MasterState state, PeerState... others) {
        return new QuarantinePolicy(new Quorum(others.length + 1), LEASE, true).decide(state, List.of(others));
    }

    private static MasterState restarted(long since) {
        return new MasterState(false, true, Optional.of(LEASE), Optional.of(at(since)), NOW);
    }

    private static MasterState empty(long since) {
        return new MasterState(false, false, Optional.empty(), Optional.of(at(since)), NOW);
    }

    @Test
    void votingMasterKeepsVoting() {
        assertThat(decide(
                        new MasterState(true, true, Optional.of(LEASE), Optional.empty(), NOW),
                        UNREACHABLE,
                        UNREACHABLE))
                .isEqualTo(new Decision.AlreadyVoting());
    }

    @Test
    void S01_quarantineLastsALeaseFromWhenItWasSeen() {
        for (MasterState late : List.of(restarted(930), empty(930))) {
            assertThat(decide(late, VOTING, VOTING)).isEqualTo(new Decision.Stay(Duration.ofSeconds(30)));
        }
        for (MasterState early : List.of(restarted(900), empty(900))) {
            assertThat(decide(early, VOTING, VOTING)).isEqualTo(new Decision.Leave(false));
        }
        assertThat(decide(new MasterState(false, false, Optional.empty(), Optional.empty(), NOW), VOTING, VOTING))
                .as("first seen now")
                .isEqualTo(new Decision.Stay(LEASE));
    }

    /** All masters may have voted until just now, whatever their uptime: a master with deleted data looks like a new one. */
    @Test
    void S01_emptyMastersStayInQuarantineIfAllAreEmpty() {
        assertThat(decide(empty(1000), EMPTY, EMPTY)).isEqualTo(new Decision.Stay(LEASE));
        assertThat(decide(empty(901), EMPTY, EMPTY)).isEqualTo(new Decision.Stay(Duration.ofSeconds(1)));
        assertThat(decide(empty(900), EMPTY, EMPTY)).isEqualTo(new Decision.Leave(true));
    }

    @Test
    void S01_emptyMasterAmongOthersStaysInQuarantine() {
        assertThat(decide(empty(990), EMPTY, QUARANTINED)).isEqualTo(new Decision.Stay(Duration.ofSeconds(90)));
        assertThat(decide(empty(900), EMPTY, QUARANTINED)).isEqualTo(new Decision.Leave(true));
        assertThat(decide(empty(990), EMPTY, UNREACHABLE)).isEqualTo(new Decision.Stay(Duration.ofSeconds(90)));
    }

    @Test
    void S03_unreachablePeersAreAwaitedForAnotherLease() {
        assertThat(decide(restarted(850), VOTING, UNREACHABLE)).isEqualTo(new Decision.Stay(Duration.ofSeconds(50)));
        assertThat(decide(restarted(800), VOTING, UNREACHABLE)).isEqualTo(new Decision.Leave(true));
        assertThat(decide(empty(950), UNREACHABLE, UNREACHABLE)).isEqualTo(new Decision.Stay(Duration.ofSeconds(50)));
        assertThat(decide(empty(850), UNREACHABLE, UNREACHABLE)).isEqualTo(new Decision.Stay(Duration.ofSeconds(50)));
    }

    @Test
    void unreachablePeersAreNotAwaitedIfTheyCannotHelp() {
        assertThat(decide(restarted(900), VOTING, QUARANTINED)).isEqualTo(new Decision.Leave(true));
        assertThat(decide(restarted(900), QUARANTINED, UNREACHABLE)).isEqualTo(new Decision.Leave(true));
        assertThat(decide(restarted(900), QUARANTINED, EMPTY, UNREACHABLE, UNREACHABLE))
                .isEqualTo(new Decision.Leave(true));
    }

    @Test
    void anyThreeOthersOfFiveKnowAllCounters() {
        assertThat(decide(restarted(900), VOTING, VOTING, VOTING, UNREACHABLE)).isEqualTo(new Decision.Leave(false));
        assertThat(decide(restarted(900), VOTING, VOTING, UNREACHABLE, UNREACHABLE))
                .isEqualTo(new Decision.Stay(Duration.ofSeconds(100)));
        List<PeerState> quarantined = Collections.nCopies(4, QUARANTINED);
        assertThat(decide(restarted(900), quarantined.toArray(PeerState[]::new)))
                .isEqualTo(new Decision.Leave(true));
    }

    @Test
    void S03_votingPeersWithoutKnownCountersAreAwaitedForAnotherLease() {
        assertThat(decide(restarted(900), UNREAD, VOTING)).isEqualTo(new Decision.Stay(Duration.ofSeconds(100)));
        assertThat(decide(restarted(900), UNREAD, QUARANTINED)).isEqualTo(new Decision.Stay(Duration.ofSeconds(100)));
        assertThat(decide(restarted(800), UNREAD, QUARANTINED)).isEqualTo(new Decision.Leave(true));
        assertThat(decide(restarted(900), VOTING, VOTING, VOTING, UNREAD))
                .as("the others are enough")
                .isEqualTo(new Decision.Leave(false));
    }

    @Test
    void S01_clientWithDifferentMaxLeaseEndsNoQuarantine() {
        MasterState other = new MasterState(true, true, Optional.of(LEASE.plusSeconds(1)), Optional.empty(), NOW);
        assertThat(decide(other, VOTING, VOTING)).isEqualTo(new Decision.MaxLeaseConflict());
        MasterState old = new MasterState(false, true, Optional.of(LEASE.plusSeconds(1)), Optional.of(at(0)), NOW);
        assertThat(decide(old, VOTING, VOTING)).isEqualTo(new Decision.MaxLeaseConflict());
        assertThat(decide(empty(0), MAX_LEASE_DIFFERS, VOTING)).isEqualTo(new Decision.MaxLeaseConflict());
        assertThat(decide(
                        new MasterState(true, true, Optional.of(LEASE), Optional.empty(), NOW),
                        MAX_LEASE_DIFFERS,
                        VOTING))
                .as("a voting master keeps voting, although the longest lease of a peer differs")
                .isEqualTo(new Decision.AlreadyVoting());
    }

    @Test
    void newMasterInTestsLeavesQuarantineAtOnce() {
        assertThat(decideNew(empty(1000), EMPTY, EMPTY)).isEqualTo(new Decision.Leave(true));
        assertThat(decideNew(empty(1000), VOTING, QUARANTINED)).isEqualTo(new Decision.Leave(true));
        assertThat(decideNew(empty(1000), MAX_LEASE_DIFFERS, EMPTY)).isEqualTo(new Decision.MaxLeaseConflict());
    }

    private static Optional<Duration> untilNextHandshake(long lastedMillis, Decision decision) {
        MasterState state = new MasterState(
                false, true, Optional.of(LEASE), Optional.of(NOW), NOW.plus(Duration.ofMillis(lastedMillis)));
        return QuarantinePolicy.untilNextHandshake(state, decision, JITTER);
    }

    @Test
    void handshakesBecomeRareAndTheLastIsDueWhenTheQuarantineEnds() {
        int handshakes = 0;
        long millis = 0;
        for (; millis < 600_000; handshakes++) {
            millis += untilNextHandshake(millis, new Decision.Stay(Duration.ofMillis(600_000 - millis)))
                    .orElseThrow()
                    .toMillis();
        }
        assertThat(millis).as("the last one").isEqualTo(600_000 + JITTER.toMillis());
        assertThat(handshakes).as("in ten minutes").isBetween(100, 130);
        assertThat(untilNextHandshake(-1_000, new Decision.Stay(LEASE)))
                .as("a clock was set back")
                .hasValue(Duration.ofMillis(250));
        assertThat(untilNextHandshake(100_000, new Decision.Stay(Duration.ofNanos(1_000))))
                .as("the clocks differ a little")
                .hasValue(Duration.ofMillis(10));
    }

    @Test
    void nextHandshakeIsDueLaterForAConflictAndNeverForAMasterThatVotesOrIsAboutTo() {
        assertThat(untilNextHandshake(0, new Decision.MaxLeaseConflict())).hasValue(Duration.ofSeconds(5));
        assertThat(untilNextHandshake(0, new Decision.Leave(false))).isEmpty();
        assertThat(untilNextHandshake(0, new Decision.AlreadyVoting())).isEmpty();
    }
}

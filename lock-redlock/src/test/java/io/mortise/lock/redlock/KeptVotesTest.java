// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Master 0 has voted, master 1 was late with its vote, master 2 has not. */
class KeptVotesTest {
    private static final Duration LEASE = Duration.ofSeconds(4);
    private static final long GRANTED = Long.MAX_VALUE - 1_000; // the clock may wrap around
    private static final long OVER = LockClock.deadline(GRANTED, LEASE);

    private final Ballot ballot = new Ballot(new Quorum(3));
    private KeptVotes votes;

    @BeforeEach
    void win() {
        ballot.cast(0, new Vote.Granted(7));
        votes = new KeptVotes(ballot, LEASE, OVER);
        ballot.cast(1, new Vote.Granted(7));
    }

    @Test
    void S06_aVoteThatMayHaveEndedByItselfMayBeTakenAgain() {
        assertThat(votes.gone(0, OVER)).isTrue();
        long renewed = GRANTED + LEASE.toNanos() / 3;
        votes.kept(1, renewed);
        assertThat(votes.gone(1, LockClock.deadline(renewed, LEASE))).isTrue();
    }

    @Test
    void S06_aVoteThatWasTakenAwayIsNotTakenAgain() {
        assertThat(votes.gone(0, OVER - 1)).isFalse();
        assertThat(votes.gone(1, OVER - 1)).as("one that came late").isFalse();
        assertThat(votes.gone(0, OVER)).as("for good").isFalse();
        assertThat(votes.gone(1, OVER)).as("for good").isFalse();
    }

    @Test
    void S06_aRenewedVoteThatWasTakenAwayIsNotTakenAgain() {
        long renewed = GRANTED + LEASE.toNanos() / 3;
        votes.kept(2, renewed);
        votes.kept(2, GRANTED); // an answer that was slower
        long over = LockClock.deadline(renewed, LEASE);
        assertThat(votes.gone(2, over - 1)).isFalse();
        assertThat(votes.gone(2, over)).isFalse();
    }

    @Test
    void S06_aVoteThatWasNeverHadMayBeTakenOnceItCannotHaveBeenTakenAway() {
        assertThat(votes.gone(2, OVER - 1)).isFalse();
        assertThat(votes.gone(2, OVER)).isTrue();
    }
}

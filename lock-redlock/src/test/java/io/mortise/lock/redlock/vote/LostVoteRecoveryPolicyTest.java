// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.vote;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/**
 * Tests that {@link LostVoteRecoveryPolicy} allows the recovery of expired votes but not of deleted ones.
 *
 * <p>Masters 0 and 1 have voted, master 2 has not.
 */
class LostVoteRecoveryPolicyTest {
    private static final Duration LEASE = Duration.ofSeconds(4);
    private static final Duration NANOSECOND = Duration.ofNanos(1);
    private static final MonotonicInstant GRANTED =
            new MonotonicInstant(Long.MAX_VALUE - 1_000); // the clock may wrap around
    private static final MonotonicInstant EXPIRED = LockClock.deadline(GRANTED, LEASE);

    private final LostVoteRecoveryPolicy policy = new LostVoteRecoveryPolicy(master -> master < 2, 3, LEASE, EXPIRED);

    @Test
    void S06_voteThatMayHaveExpiredMayBeRecovered() {
        assertThat(policy.voteMissing(0, EXPIRED)).isTrue();
        MonotonicInstant renewed = GRANTED.plus(LEASE.dividedBy(3));
        policy.voteSeen(1, renewed);
        assertThat(policy.voteMissing(1, LockClock.deadline(renewed, LEASE))).isTrue();
    }

    @Test
    void S06_deletedVoteIsNotRecovered() {
        assertThat(policy.voteMissing(0, EXPIRED.minus(NANOSECOND))).isFalse();
        assertThat(policy.voteMissing(1, EXPIRED.minus(NANOSECOND))).isFalse();
        assertThat(policy.voteMissing(0, EXPIRED))
                .as("recovery stays forbidden")
                .isFalse();
        assertThat(policy.voteMissing(1, EXPIRED))
                .as("recovery stays forbidden")
                .isFalse();
    }

    @Test
    void S06_deletedRenewedVoteIsNotRecovered() {
        MonotonicInstant renewed = GRANTED.plus(LEASE.dividedBy(3));
        policy.voteSeen(2, renewed);
        policy.voteSeen(2, GRANTED); // a slower reply
        MonotonicInstant expired = LockClock.deadline(renewed, LEASE);
        assertThat(policy.voteMissing(2, expired.minus(NANOSECOND))).isFalse();
        assertThat(policy.voteMissing(2, expired)).isFalse();
    }

    @Test
    void S06_voteNeverGrantedMayBeRequestedAfterALease() {
        assertThat(policy.voteMissing(2, EXPIRED.minus(NANOSECOND))).isFalse();
        assertThat(policy.voteMissing(2, EXPIRED)).isTrue();
    }
}

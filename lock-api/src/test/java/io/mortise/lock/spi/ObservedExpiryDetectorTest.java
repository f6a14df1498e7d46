// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ObservedExpiryDetectorTest {
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final LockName X = new LockName("x");
    private static final String OWNER = "a".repeat(32) + " m1";

    private final ManualClock clock = new ManualClock();
    private final ObservedExpiryDetector expiry = new ObservedExpiryDetector(clock);

    @Test
    void aGrantEndsAfterItsWholeLeaseWithoutAChange() {
        assertThat(expiry.hasEnded(X, OWNER, 7L, LEASE)).isFalse();
        clock.advance(LEASE.minusNanos(1));
        assertThat(expiry.hasEnded(X, OWNER, 7L, LEASE)).isFalse();
        clock.advance(Duration.ofNanos(1));
        assertThat(expiry.hasEnded(X, OWNER, 7L, LEASE)).isTrue();
        assertThat(expiry.hasEnded(X, OWNER, 7L, LEASE))
                .as("until it is taken over")
                .isTrue();
    }

    @Test
    void eachChangeStartsTheLeaseAgain() {
        for (long version = 0; version < 100; version++) {
            assertThat(expiry.hasEnded(X, OWNER, version, LEASE)).isFalse();
            clock.advance(LEASE.minusNanos(1));
        }
        assertThat(expiry.hasEnded(X, OWNER, 99L, LEASE)).isFalse();
        clock.advance(LEASE);
        assertThat(expiry.hasEnded(X, OWNER, 100L, LEASE))
                .as("changed just now")
                .isFalse();
    }

    /** A version that returns after another one cannot be told from one that stayed: so it counts from its last return. */
    @Test
    void aVersionThatReturnsCountsAgain() {
        expiry.hasEnded(X, OWNER, "a", LEASE);
        clock.advance(LEASE);
        expiry.hasEnded(X, OWNER, "b", LEASE);
        assertThat(expiry.hasEnded(X, OWNER, "a", LEASE)).isFalse();
    }

    /** A release deletes the record, so that a counter in it begins again. */
    @Test
    void aVersionOfAnotherOwnerCountsAgain() {
        expiry.hasEnded(X, OWNER, 1L, LEASE);
        clock.advance(LEASE);
        assertThat(expiry.hasEnded(X, "b".repeat(32) + " m1", 1L, LEASE)).isFalse();
    }

    @Test
    void theLeaseOfTheRecordDecides() {
        expiry.hasEnded(X, OWNER, 1L, LEASE);
        clock.advance(Duration.ofSeconds(10));
        assertThat(expiry.hasEnded(X, OWNER, 1L, Duration.ofSeconds(10))).isTrue();
        assertThat(expiry.hasEnded(X, OWNER, 1L, Duration.ofSeconds(11))).isFalse();
    }

    @Test
    void S19_aForgedLeaseIsTakenForTheLongest() {
        Duration forged = Duration.ofMillis(Long.MAX_VALUE);
        assertThat(expiry.hasEnded(X, OWNER, 1L, forged)).isFalse();
        clock.advance(Duration.ofHours(1));
        assertThat(expiry.hasEnded(X, OWNER, 1L, forged)).isTrue();
        clock.advance(Duration.ofHours(2));
        for (int i = 0; i < 1_001; i++) {
            expiry.hasEnded(new LockName("lock " + i), OWNER, 1L, LEASE);
        }
        assertThat(expiry.size()).as("without that of the forged lease").isEqualTo(1_001);
    }

    @Test
    void locksAreTimedIndependently() {
        LockName y = new LockName("y");
        expiry.hasEnded(X, OWNER, 1L, LEASE);
        clock.advance(Duration.ofSeconds(20));
        expiry.hasEnded(y, OWNER, 1L, LEASE);
        clock.advance(Duration.ofSeconds(10));
        assertThat(expiry.hasEnded(X, OWNER, 1L, LEASE)).isTrue();
        assertThat(expiry.hasEnded(y, OWNER, 1L, LEASE)).isFalse();
    }

    @Test
    void aForgottenRecordCountsAgain() {
        expiry.hasEnded(X, OWNER, 1L, LEASE);
        clock.advance(LEASE);
        expiry.forget(X);
        assertThat(expiry.size()).isZero();
        assertThat(expiry.hasEnded(X, OWNER, 1L, LEASE)).isFalse();
    }

    /** A job that tries once a minute has nobody waiting in between, and must still be able to take the lock over. */
    @Test
    void rareAttemptsTakeOverTogether() {
        assertThat(expiry.hasEnded(X, OWNER, 1L, LEASE)).isFalse();
        clock.advance(Duration.ofHours(1));
        assertThat(expiry.hasEnded(X, OWNER, 1L, LEASE)).isTrue();
    }

    @Test
    void S17_namesReadOnceAreDropped() {
        for (int i = 0; i < 100_000; i++) {
            expiry.hasEnded(new LockName("once/" + i), OWNER, 1L, LEASE);
            clock.advance(Duration.ofMillis(30));
        }
        // In two leases of 30 s, 2,000 names are read; each read looks at four, and so finds an unneeded one within 500
        // more.
        assertThat(expiry.size()).isBetween(1_000, 2_600);
        clock.advance(LEASE.multipliedBy(2));
        expiry.hasEnded(X, OWNER, 1L, LEASE);
        assertThat(expiry.size()).isEqualTo(1_000);
    }

    @Test
    void S17_aLongLeaseKeepsNoOtherName() {
        expiry.hasEnded(X, OWNER, 1L, Duration.ofHours(1));
        for (int i = 0; i < 10_000; i++) {
            expiry.hasEnded(new LockName("once/" + i), OWNER, 1L, Duration.ofSeconds(1));
            clock.advance(Duration.ofMillis(30));
        }
        assertThat(expiry.size()).isBetween(1_000, 1_002);
        clock.advance(Duration.ofHours(1));
        assertThat(expiry.hasEnded(X, OWNER, 1L, Duration.ofHours(1)))
                .as("kept")
                .isTrue();
    }

    @Test
    void aNameThatIsReadStaysHoweverManyThereAre() {
        for (int round = 0; round < 31; round++) {
            for (int i = 0; i < 5_000; i++) {
                assertThat(expiry.hasEnded(new LockName("waiting/" + i), OWNER, 1L, LEASE))
                        .as("after %d s", round)
                        .isEqualTo(round == 30);
            }
            clock.advance(Duration.ofSeconds(1));
        }
    }
}

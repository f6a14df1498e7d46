// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Tests that no deadline is later than the time when the leader expires a session whose follower was cut off.
 *
 * <p>Rules S01 and S02.
 */
class SessionDeadlineCalculatorTest {
    private static final long SECOND = Duration.ofSeconds(1).toNanos();
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final long REPORT = TIMEOUT.toNanos() / 4;
    private static final long MARGIN = SECOND / 2;

    private static MonotonicInstant at(long nanos) {
        return new MonotonicInstant(nanos);
    }

    @Test
    void S02_steadyRenewalsProveThreeQuarters() {
        SessionDeadlineCalculator deadlines = new SessionDeadlineCalculator(TIMEOUT, at(0), at(0), true);
        for (long at = 4 * SECOND; at < 100 * SECOND; at += 4 * SECOND) {
            assertThat(deadlines.onReply(at(at), at(at + SECOND / 10)).nanos())
                    .isBetween(at + 15 * SECOND - MARGIN, at + 15 * SECOND);
            assertThat(deadlines.needsFollowUp()).isFalse();
        }
    }

    @Test
    void S02_afterAGapTheDeadlineCountsFromTheLatestRequestKnownToTheLeader() {
        SessionDeadlineCalculator deadlines = new SessionDeadlineCalculator(TIMEOUT, at(0), at(0), true);
        assertThat(deadlines.onReply(at(12 * SECOND), at(12 * SECOND)).nanos())
                .isBetween(20 * SECOND - MARGIN, 20 * SECOND);
        assertThat(deadlines.needsFollowUp()).isTrue();
        assertThat(deadlines.onReply(at(16 * SECOND), at(16 * SECOND)).nanos())
                .isBetween(20 * SECOND - MARGIN, 20 * SECOND);
        assertThat(deadlines.onReply(at(18 * SECOND), at(18 * SECOND)).nanos())
                .isBetween(33 * SECOND - MARGIN, 33 * SECOND);
    }

    /** Requests that were delayed and arrive together count as a gap too, though they were sent in time. */
    @Test
    void S02_delayedSyncsProveNoMoreThanTheSyncBeforeThem() {
        SessionDeadlineCalculator deadlines = new SessionDeadlineCalculator(TIMEOUT, at(0), at(0), true);
        assertThat(deadlines.onReply(at(4 * SECOND), at(4 * SECOND)).nanos()).isGreaterThan(18 * SECOND);
        assertThat(deadlines.onReply(at(8 * SECOND), at(16 * SECOND)).nanos()).isLessThanOrEqualTo(24 * SECOND);
        assertThat(deadlines.onReply(at(12 * SECOND), at(16 * SECOND)).nanos()).isLessThanOrEqualTo(24 * SECOND);
        assertThat(deadlines.needsFollowUp()).isTrue();
        assertThat(deadlines.onReply(at(22 * SECOND), at(22 * SECOND)).nanos()).isBetween(31 * SECOND, 32 * SECOND);
    }

    @Test
    void S02_aSlowConnectionStillExtendsTheDeadlineEnough() {
        SessionDeadlineCalculator deadlines = new SessionDeadlineCalculator(TIMEOUT, at(0), at(0), true);
        long roundTrip = 2 * SECOND;
        for (long at = 4 * SECOND; at < 100 * SECOND; at += 4 * SECOND) {
            assertThat(deadlines.onReply(at(at), at(at + roundTrip)).nanos()).isGreaterThan(at + 10 * SECOND);
        }
    }

    @Test
    void S02_theFirstSyncOnAnOpenHandleProvesLess() {
        assertThat(SessionDeadlineCalculator.firstDeadline(TIMEOUT, at(0), false)
                        .nanos())
                .isLessThanOrEqualTo(10 * SECOND);
        assertThat(SessionDeadlineCalculator.firstDeadline(TIMEOUT, at(0), true).nanos())
                .isBetween(15 * SECOND - MARGIN, 15 * SECOND);
    }

    /** After one more sync, a quarter of the timeout later, an application's handle proves as much as a managed handle. */
    @Test
    void S02_anOpenHandleProvesAsMuchOnceTheLeaderKnowsItsFirstSync() {
        SessionDeadlineCalculator deadlines = new SessionDeadlineCalculator(TIMEOUT, at(0), at(SECOND / 10), false);
        assertThat(deadlines.needsFollowUp()).isTrue();
        assertThat(deadlines.onReply(at(4 * SECOND), at(4 * SECOND)).nanos()).isLessThanOrEqualTo(10 * SECOND);
        assertThat(deadlines.needsFollowUp()).isTrue();
        long next = SECOND / 10 + REPORT;
        assertThat(deadlines.onReply(at(next), at(next)).nanos())
                .isBetween(next + 15 * SECOND - MARGIN, next + 15 * SECOND);
        assertThat(deadlines.needsFollowUp()).isFalse();
    }

    /**
     * A follower that reports as rarely as possible, every quarter of the timeout, is cut off just after it has forwarded a
     * random sync. Syncs are sent at random times, some after a pause, and some are delayed. In every second round the handle
     * was open before, and the leader's knowledge of the session is as old as possible.
     */
    @Test
    void S02_noDeadlineIsLaterThanTheSessionsEnd() {
        Random random = new Random(7);
        for (int round = 0; round < 50_000; round++) {
            long phase = random.nextLong(REPORT);
            boolean newSession = round % 2 == 0;
            long touched = newSession ? 0 : -2 * REPORT; // the leader itself creates a new session
            long sent = 0;
            long forwarded = newSession ? 0 : random.nextLong(SECOND / 5);
            long received = forwarded + (newSession ? 0 : random.nextLong(SECOND / 5));
            SessionDeadlineCalculator deadlines =
                    new SessionDeadlineCalculator(TIMEOUT, at(sent), at(received), newSession);
            long valid = SessionDeadlineCalculator.firstDeadline(TIMEOUT, at(sent), newSession)
                    .nanos();
            for (int syncs = 1 + random.nextInt(8); syncs > 0; syncs--) {
                sent += random.nextInt(4) == 0 ? random.nextLong(15 * SECOND) : random.nextLong(4 * SECOND);
                long before = forwarded;
                long delay = random.nextInt(4) == 0 ? random.nextLong(10 * SECOND) : random.nextLong(SECOND / 5);
                forwarded = Math.max(forwarded, sent + delay);
                for (long at = nextReport(before, phase); at <= forwarded; at += REPORT) {
                    if (before > at - REPORT) {
                        touched = at;
                    }
                }
                received = Math.max(received, forwarded + random.nextLong(SECOND / 5));
                valid = Math.max(
                        valid, deadlines.onReply(at(sent), at(received)).nanos());
            }
            assertThat(valid).as("round %d", round).isLessThan(touched + TIMEOUT.toNanos());
        }
    }

    private static long nextReport(long after, long phase) {
        return after - Math.floorMod(after - phase, REPORT) + REPORT;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.MonotonicTime;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** S01: no deadline is later than the moment when the leader expires a session whose follower was cut off. */
class SessionDeadlineCalculatorTest {
    private static final long SECOND = Duration.ofSeconds(1).toNanos();
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final long REPORT = TIMEOUT.toNanos() / 4;
    private static final long MARGIN = SECOND / 2;

    private static MonotonicTime at(long nanos) {
        return new MonotonicTime(nanos);
    }

    @Test
    void S02_steadyRenewalsProveThreeQuarters() {
        SessionDeadlineCalculator deadlines = new SessionDeadlineCalculator(TIMEOUT, at(0), at(0), true);
        for (long at = 4 * SECOND; at < 100 * SECOND; at += 4 * SECOND) {
            assertThat(deadlines.answered(at(at), at(at + SECOND / 10)).nanos())
                    .isBetween(at + 15 * SECOND - MARGIN, at + 15 * SECOND);
            assertThat(deadlines.provedLittle()).isFalse();
        }
    }

    @Test
    void S02_afterASilenceItCountsFromWhatTheLeaderMustKnow() {
        SessionDeadlineCalculator deadlines = new SessionDeadlineCalculator(TIMEOUT, at(0), at(0), true);
        assertThat(deadlines.answered(at(12 * SECOND), at(12 * SECOND)).nanos())
                .isBetween(20 * SECOND - MARGIN, 20 * SECOND);
        assertThat(deadlines.provedLittle()).isTrue();
        assertThat(deadlines.answered(at(16 * SECOND), at(16 * SECOND)).nanos())
                .isBetween(20 * SECOND - MARGIN, 20 * SECOND);
        assertThat(deadlines.answered(at(18 * SECOND), at(18 * SECOND)).nanos())
                .isBetween(33 * SECOND - MARGIN, 33 * SECOND);
    }

    /** Requests that were delayed and arrive together count as a silence too, though they were sent in time. */
    @Test
    void S02_stalledSyncsProveNoMoreThanTheOneBeforeThem() {
        SessionDeadlineCalculator deadlines = new SessionDeadlineCalculator(TIMEOUT, at(0), at(0), true);
        assertThat(deadlines.answered(at(4 * SECOND), at(4 * SECOND)).nanos()).isGreaterThan(18 * SECOND);
        assertThat(deadlines.answered(at(8 * SECOND), at(16 * SECOND)).nanos()).isLessThanOrEqualTo(24 * SECOND);
        assertThat(deadlines.answered(at(12 * SECOND), at(16 * SECOND)).nanos()).isLessThanOrEqualTo(24 * SECOND);
        assertThat(deadlines.provedLittle()).isTrue();
        assertThat(deadlines.answered(at(22 * SECOND), at(22 * SECOND)).nanos()).isBetween(31 * SECOND, 32 * SECOND);
    }

    @Test
    void S02_aSlowConnectionStillProvesEnoughToBeRenewed() {
        SessionDeadlineCalculator deadlines = new SessionDeadlineCalculator(TIMEOUT, at(0), at(0), true);
        long roundTrip = 2 * SECOND;
        for (long at = 4 * SECOND; at < 100 * SECOND; at += 4 * SECOND) {
            assertThat(deadlines.answered(at(at), at(at + roundTrip)).nanos()).isGreaterThan(at + 10 * SECOND);
        }
    }

    @Test
    void S02_aHandleThatWasOpenBeforeProvesLessAtFirst() {
        assertThat(SessionDeadlineCalculator.firstDeadline(TIMEOUT, at(0), false)
                        .nanos())
                .isLessThanOrEqualTo(10 * SECOND);
        assertThat(SessionDeadlineCalculator.firstDeadline(TIMEOUT, at(0), true).nanos())
                .isBetween(15 * SECOND - MARGIN, 15 * SECOND);
    }

    /** After one more sync, a quarter of the timeout later, it proves as much as a managed handle. */
    @Test
    void S02_aHandleThatWasOpenBeforeProvesAsMuchOnceTheLeaderKnowsItsFirstSync() {
        SessionDeadlineCalculator deadlines = new SessionDeadlineCalculator(TIMEOUT, at(0), at(SECOND / 10), false);
        assertThat(deadlines.provedLittle()).isTrue();
        assertThat(deadlines.answered(at(4 * SECOND), at(4 * SECOND)).nanos()).isLessThanOrEqualTo(10 * SECOND);
        assertThat(deadlines.provedLittle()).isTrue();
        long next = SECOND / 10 + REPORT;
        assertThat(deadlines.answered(at(next), at(next)).nanos())
                .isBetween(next + 15 * SECOND - MARGIN, next + 15 * SECOND);
        assertThat(deadlines.provedLittle()).isFalse();
    }

    /**
     * A follower that reports as rarely as it may, every quarter of the timeout, is cut off when it has just forwarded a random
     * sync. Syncs are sent at random times, some after a pause, and some are delayed. Every second handle was open before, and
     * what the leader knew of it is as old as it can be.
     */
    @Test
    void S02_noDeadlineIsLaterThanTheSessionsEnd() {
        Random random = new Random(7);
        for (int round = 0; round < 50_000; round++) {
            long phase = random.nextLong(REPORT);
            boolean newSession = round % 2 == 0;
            long touched = newSession ? 0 : -2 * REPORT; // what the leader knows; it made the session, if that is new
            long sent = 0;
            long heard = newSession ? 0 : random.nextLong(SECOND / 5);
            long answered = heard + (newSession ? 0 : random.nextLong(SECOND / 5));
            SessionDeadlineCalculator deadlines =
                    new SessionDeadlineCalculator(TIMEOUT, at(sent), at(answered), newSession);
            long valid = SessionDeadlineCalculator.firstDeadline(TIMEOUT, at(sent), newSession)
                    .nanos();
            for (int syncs = 1 + random.nextInt(8); syncs > 0; syncs--) {
                sent += random.nextInt(4) == 0 ? random.nextLong(15 * SECOND) : random.nextLong(4 * SECOND);
                long before = heard;
                long delay = random.nextInt(4) == 0 ? random.nextLong(10 * SECOND) : random.nextLong(SECOND / 5);
                heard = Math.max(heard, sent + delay);
                for (long at = nextReport(before, phase); at <= heard; at += REPORT) {
                    if (before > at - REPORT) {
                        touched = at;
                    }
                }
                answered = Math.max(answered, heard + random.nextLong(SECOND / 5));
                valid = Math.max(
                        valid, deadlines.answered(at(sent), at(answered)).nanos());
            }
            assertThat(valid).as("round %d", round).isLessThan(touched + TIMEOUT.toNanos());
        }
    }

    private static long nextReport(long after, long phase) {
        return after - Math.floorMod(after - phase, REPORT) + REPORT;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** S01: no proof lasts longer than the leader keeps a session whose follower was cut off right after it. */
class SessionProofTest {
    private static final long SECOND = Duration.ofSeconds(1).toNanos();
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final long REPORT = TIMEOUT.toNanos() / 4;
    private static final long MARGIN = SECOND / 2;

    @Test
    void S02_steadyRenewalsProveThreeQuarters() {
        SessionProof proof = new SessionProof(TIMEOUT, 0, 0, true);
        for (long at = 4 * SECOND; at < 100 * SECOND; at += 4 * SECOND) {
            assertThat(proof.answered(at, at + SECOND / 10)).isBetween(at + 15 * SECOND - MARGIN, at + 15 * SECOND);
            assertThat(proof.provedLittle()).isFalse();
        }
    }

    @Test
    void S02_afterASilenceItCountsFromWhatTheLeaderMustKnow() {
        SessionProof proof = new SessionProof(TIMEOUT, 0, 0, true);
        assertThat(proof.answered(12 * SECOND, 12 * SECOND)).isBetween(20 * SECOND - MARGIN, 20 * SECOND);
        assertThat(proof.provedLittle()).isTrue();
        assertThat(proof.answered(16 * SECOND, 16 * SECOND)).isBetween(20 * SECOND - MARGIN, 20 * SECOND);
        assertThat(proof.answered(18 * SECOND, 18 * SECOND)).isBetween(33 * SECOND - MARGIN, 33 * SECOND);
    }

    /** Two that were stuck on the way and arrive together are a silence too, though they were sent in time. */
    @Test
    void S02_stalledSyncsProveNoMoreThanTheOneBeforeThem() {
        SessionProof proof = new SessionProof(TIMEOUT, 0, 0, true);
        assertThat(proof.answered(4 * SECOND, 4 * SECOND)).isGreaterThan(18 * SECOND);
        assertThat(proof.answered(8 * SECOND, 16 * SECOND)).isLessThanOrEqualTo(24 * SECOND);
        assertThat(proof.answered(12 * SECOND, 16 * SECOND)).isLessThanOrEqualTo(24 * SECOND);
        assertThat(proof.provedLittle()).isTrue();
        assertThat(proof.answered(22 * SECOND, 22 * SECOND)).isBetween(31 * SECOND, 32 * SECOND);
    }

    @Test
    void S02_aSlowLineStillProvesEnoughToBeRenewed() {
        SessionProof proof = new SessionProof(TIMEOUT, 0, 0, true);
        long roundTrip = 2 * SECOND;
        for (long at = 4 * SECOND; at < 100 * SECOND; at += 4 * SECOND) {
            assertThat(proof.answered(at, at + roundTrip)).isGreaterThan(at + 10 * SECOND);
        }
    }

    @Test
    void S02_aHandleThatWasOpenBeforeProvesLessAtFirst() {
        assertThat(SessionProof.first(TIMEOUT, 0, false)).isLessThanOrEqualTo(10 * SECOND);
        assertThat(SessionProof.first(TIMEOUT, 0, true)).isBetween(15 * SECOND - MARGIN, 15 * SECOND);
    }

    /** One more sync a quarter of the timeout later, and it proves as much as on a handle of our own: half of the proof is left then. */
    @Test
    void S02_aHandleThatWasOpenBeforeProvesAsMuchOnceItsFirstSyncIsKnown() {
        SessionProof proof = new SessionProof(TIMEOUT, 0, SECOND / 10, false);
        assertThat(proof.provedLittle()).isTrue();
        assertThat(proof.answered(4 * SECOND, 4 * SECOND)).isLessThanOrEqualTo(10 * SECOND);
        assertThat(proof.provedLittle()).isTrue();
        long next = SECOND / 10 + REPORT;
        assertThat(proof.answered(next, next)).isBetween(next + 15 * SECOND - MARGIN, next + 15 * SECOND);
        assertThat(proof.provedLittle()).isFalse();
    }

    /**
     * A follower that reports every quarter of the timeout, as seldom as it may, is cut off when it has just passed on a
     * random sync. Syncs are sent at random times, some after a pause, and some are stuck on the way. Every other handle was
     * open before, and what the leader knew of it was as old as it may be.
     */
    @Test
    void S02_neverOutlivesWhatTheLeaderKnows() {
        Random random = new Random(7);
        for (int round = 0; round < 50_000; round++) {
            long phase = random.nextLong(REPORT);
            boolean made = round % 2 == 0;
            long touched = made ? 0 : -2 * REPORT; // what the leader knows; it made the session, if that is new
            long sent = 0;
            long heard = made ? 0 : random.nextLong(SECOND / 5);
            long answered = heard + (made ? 0 : random.nextLong(SECOND / 5));
            SessionProof proof = new SessionProof(TIMEOUT, sent, answered, made);
            long valid = SessionProof.first(TIMEOUT, sent, made);
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
                valid = Math.max(valid, proof.answered(sent, answered));
            }
            assertThat(valid).as("round %d", round).isLessThan(touched + TIMEOUT.toNanos());
        }
    }

    private static long nextReport(long after, long phase) {
        return after - Math.floorMod(after - phase, REPORT) + REPORT;
    }
}

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
    private static final long MARGIN = SECOND / 2;

    @Test
    void steadyRenewalsProveThreeQuarters() {
        SessionProof proof = new SessionProof(TIMEOUT, 0);
        for (long at = 4 * SECOND; at < 100 * SECOND; at += 4 * SECOND) {
            assertThat(proof.answered(at)).isBetween(at + 15 * SECOND - MARGIN, at + 15 * SECOND);
            assertThat(proof.isFreshAfterSilence(at)).isFalse();
        }
    }

    @Test
    void afterASilenceCountsFromItsBeginningUntilTheLeaderMustKnow() {
        SessionProof proof = new SessionProof(TIMEOUT, 0);
        assertThat(proof.answered(12 * SECOND)).isBetween(20 * SECOND - MARGIN, 20 * SECOND);
        assertThat(proof.isFreshAfterSilence(12 * SECOND)).isTrue();
        assertThat(proof.answered(16 * SECOND)).isBetween(20 * SECOND - MARGIN, 20 * SECOND);
        assertThat(proof.answered(18 * SECOND)).isBetween(33 * SECOND - MARGIN, 33 * SECOND);
    }

    /** A follower that reports every quarter of the timeout, as seldom as it may, is cut off after a random sync. */
    @Test
    void neverOutlivesWhatTheLeaderKnows() {
        Random random = new Random(7);
        long report = 5 * SECOND;
        for (int round = 0; round < 20_000; round++) {
            long phase = random.nextLong(report);
            long sent = 0;
            SessionProof proof = new SessionProof(TIMEOUT, sent);
            long touched = sent; // what the leader knows: it made the session
            long valid = SessionProof.until(TIMEOUT, sent);
            int syncs = 1 + random.nextInt(8);
            long active = sent;
            for (int i = 0; i < syncs; i++) {
                long next =
                        sent + (random.nextInt(4) == 0 ? random.nextLong(15 * SECOND) : random.nextLong(4 * SECOND));
                for (long at = nextReport(sent, phase, report); at <= next; at += report) {
                    if (active > at - report) {
                        touched = at;
                    }
                }
                sent = next;
                active = next;
                valid = proof.answered(sent);
            }
            assertThat(valid).isLessThan(touched + TIMEOUT.toNanos());
        }
    }

    private static long nextReport(long after, long phase, long report) {
        long since = Math.floorMod(after - phase, report);
        return after - since + report;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static io.mortise.lock.redlock.QuorumWait.Next.GIVE_UP;
import static io.mortise.lock.redlock.QuorumWait.Next.SAY_AND_WAIT;
import static io.mortise.lock.redlock.QuorumWait.Next.WAIT;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** With a connect timeout of 10 s, and leases of 30 s at most. */
class QuorumWaitTest {
    private static final long START = Long.MAX_VALUE - 5_000_000_000L; // a clock may run over

    private final QuorumWait wait = new QuorumWait(Duration.ofSeconds(10), Duration.ofSeconds(30), START);

    private QuorumWait.Next at(long seconds) {
        return wait.at(START + Duration.ofSeconds(seconds).toNanos(), Optional.empty());
    }

    private QuorumWait.Next at(long seconds, long quorumInMillis) {
        return wait.at(START + Duration.ofSeconds(seconds).toNanos(), Optional.of(Duration.ofMillis(quorumInMillis)));
    }

    @Test
    void S15_withoutAReasonItGivesUpAfterTheConnectTimeout() {
        assertThat(at(0)).isEqualTo(WAIT);
        assertThat(at(9)).isEqualTo(WAIT);
        assertThat(at(10)).isEqualTo(GIVE_UP);
    }

    @Test
    void S15_itWaitsForWhatNeedsTimeAloneAndSaysSoOnce() {
        assertThat(at(1, 29_000)).isEqualTo(SAY_AND_WAIT);
        assertThat(at(10, 20_000)).isEqualTo(WAIT);
        assertThat(at(29, 1_000)).isEqualTo(WAIT);
        assertThat(at(31, 0)).isEqualTo(WAIT);
    }

    @Test
    void S15_oneThatFailsMeanwhileHasTheConnectTimeoutToComeBack() {
        assertThat(at(20, 10_000)).isEqualTo(SAY_AND_WAIT);
        assertThat(at(29)).isEqualTo(WAIT);
        assertThat(at(30)).isEqualTo(GIVE_UP);
    }

    @Test
    void S15_itNeverWaitsForLongerThanTwoLeasesAndTwoConnectTimeouts() {
        assertThat(at(79, 30_000)).isEqualTo(SAY_AND_WAIT);
        assertThat(at(80, 1)).isEqualTo(GIVE_UP);
        assertThat(wait.longest()).isEqualTo(Duration.ofSeconds(80));
    }

    @Test
    void whatIsOverInAMomentIsNotWorthAWord() {
        assertThat(at(0, 999)).isEqualTo(WAIT);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import static io.mortise.lock.redlock.master.ConnectWaitPolicy.Decision.GIVE_UP;
import static io.mortise.lock.redlock.master.ConnectWaitPolicy.Decision.LOG_AND_WAIT;
import static io.mortise.lock.redlock.master.ConnectWaitPolicy.Decision.WAIT;
import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Tests how long {@link ConnectWaitPolicy} waits, with a connect timeout of 10 s and a longest lease of 30 s. */
class ConnectWaitPolicyTest {
    private static final MonotonicInstant START =
            new MonotonicInstant(Long.MAX_VALUE).minus(Duration.ofSeconds(5)); // the clock may overflow

    private final ConnectWaitPolicy policy =
            new ConnectWaitPolicy(Duration.ofSeconds(10), Duration.ofSeconds(30), START);

    private ConnectWaitPolicy.Decision at(long seconds) {
        return policy.decide(START.plus(Duration.ofSeconds(seconds)), Optional.empty());
    }

    private ConnectWaitPolicy.Decision at(long seconds, long majorityInMillis) {
        return policy.decide(START.plus(Duration.ofSeconds(seconds)), Optional.of(Duration.ofMillis(majorityInMillis)));
    }

    @Test
    void S15_givesUpAfterConnectTimeoutWithoutAReason() {
        assertThat(at(0)).isEqualTo(WAIT);
        assertThat(at(9)).isEqualTo(WAIT);
        assertThat(at(10)).isEqualTo(GIVE_UP);
    }

    @Test
    void S15_waitsForQuarantineAndLogsOnce() {
        assertThat(at(1, 29_000)).isEqualTo(LOG_AND_WAIT);
        assertThat(at(10, 20_000)).isEqualTo(WAIT);
        assertThat(at(29, 1_000)).isEqualTo(WAIT);
        assertThat(at(31, 0)).isEqualTo(WAIT);
    }

    @Test
    void S15_masterThatFailsMeanwhileGetsAnotherConnectTimeout() {
        assertThat(at(20, 10_000)).isEqualTo(LOG_AND_WAIT);
        assertThat(at(29)).isEqualTo(WAIT);
        assertThat(at(30)).isEqualTo(GIVE_UP);
    }

    @Test
    void S15_neverWaitsLongerThanTwoLeasesAndTwoConnectTimeouts() {
        assertThat(at(79, 30_000)).isEqualTo(LOG_AND_WAIT);
        assertThat(at(80, 1)).isEqualTo(GIVE_UP);
        assertThat(policy.longest()).isEqualTo(Duration.ofSeconds(80));
    }

    @Test
    void shortQuarantineIsNotLogged() {
        assertThat(at(0, 999)).isEqualTo(WAIT);
    }
}

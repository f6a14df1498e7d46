// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.MonotonicTime;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ServerClockTest {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration MICROSECOND = Duration.ofNanos(1_000);

    /** Close to the overflow of the monotonic clock. */
    private static final MonotonicTime SENT = new MonotonicTime(Long.MAX_VALUE).minus(SECOND);

    private static final ServerTime SHOWN = new ServerTime(500_000_000);

    private final ServerClock clock = new ServerClock();

    @Test
    void theServersClockShowsAtMostWhatHasPassedSinceTheRequestWasSent() {
        clock.heard(SENT, SHOWN);
        assertThat(clock.atMost(SENT)).isEqualTo(SHOWN.plus(MICROSECOND));
        assertThat(clock.atMost(SENT.plus(SECOND.multipliedBy(10))))
                .as("10 s and 1 %")
                .isEqualTo(SHOWN.plus(Duration.ofMillis(10_100)).plus(MICROSECOND));
    }

    @Test
    void beforeTheFirstReplyItIsUnknown() {
        assertThat(clock.atMost(SENT)).isEqualTo(ServerTime.UNKNOWN);
        clock.heard(SENT, SHOWN);
        clock.forget();
        assertThat(clock.atMost(SENT)).isEqualTo(ServerTime.UNKNOWN);
    }

    @Test
    void anInstantBeforeTheAnchorIsNoEarlierThanIt() {
        clock.heard(SENT, SHOWN);
        assertThat(clock.atMost(SENT.minus(SECOND))).isEqualTo(SHOWN.plus(MICROSECOND));
    }

    @Test
    void theLatestAnswerCounts() {
        ServerTime setBack = new ServerTime(9_000_000);
        clock.heard(SENT, SHOWN);
        clock.heard(SENT.plus(SECOND), setBack);
        assertThat(clock.atMost(SENT.plus(SECOND.multipliedBy(2))))
                .isEqualTo(setBack.plus(Duration.ofMillis(1_010)).plus(MICROSECOND));
    }

    @Test
    void S02_aPushedGrantBeganNoEarlierThanTheServersClockHasGoneOn() {
        assertThat(ServerClock.noLaterThan(SENT, SHOWN, SHOWN)).isEqualTo(SENT);
        assertThat(SENT.until(ServerClock.noLaterThan(SENT, SHOWN, SHOWN.plus(Duration.ofSeconds(10)))))
                .as("10 s less 1 %")
                .isEqualTo(Duration.ofMillis(9_900));
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ServerClockTest {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration MICROSECOND = Duration.ofNanos(1_000);

    /** Close to the overflow of the monotonic clock. */
    private static final MonotonicInstant SENT = new MonotonicInstant(Long.MAX_VALUE).minus(SECOND);

    private static final ServerTime SHOWN = new ServerTime(500_000_000);

    private final ServerClock clock = new ServerClock();

    @Test
    void theServersClockShowsAtMostTheTimeSinceTheRequestWasSent() {
        clock.onReply(SENT, SHOWN);
        assertThat(clock.latestTimeAt(SENT)).isEqualTo(SHOWN.plus(MICROSECOND));
        assertThat(clock.latestTimeAt(SENT.plus(SECOND.multipliedBy(10))))
                .as("10 s and 1 %")
                .isEqualTo(SHOWN.plus(Duration.ofMillis(10_100)).plus(MICROSECOND));
    }

    @Test
    void beforeTheFirstReplyTheClockIsUnknown() {
        assertThat(clock.latestTimeAt(SENT)).isEqualTo(ServerTime.UNKNOWN);
        clock.onReply(SENT, SHOWN);
        clock.forget();
        assertThat(clock.latestTimeAt(SENT)).isEqualTo(ServerTime.UNKNOWN);
    }

    @Test
    void anInstantBeforeTheLastReplyYieldsTheTimeOfThatReply() {
        clock.onReply(SENT, SHOWN);
        assertThat(clock.latestTimeAt(SENT.minus(SECOND))).isEqualTo(SHOWN.plus(MICROSECOND));
    }

    @Test
    void theLatestReplyCounts() {
        ServerTime setBack = new ServerTime(9_000_000);
        clock.onReply(SENT, SHOWN);
        clock.onReply(SENT.plus(SECOND), setBack);
        assertThat(clock.latestTimeAt(SENT.plus(SECOND.multipliedBy(2))))
                .isEqualTo(setBack.plus(Duration.ofMillis(1_010)).plus(MICROSECOND));
    }

    @Test
    void S02_theStartOfAHandedOffGrantIsEstimatedNoLaterThanItWas() {
        assertThat(ServerClock.noLaterThan(SENT, SHOWN, SHOWN)).isEqualTo(SENT);
        assertThat(SENT.until(ServerClock.noLaterThan(SENT, SHOWN, SHOWN.plus(Duration.ofSeconds(10)))))
                .as("10 s less 1 %")
                .isEqualTo(Duration.ofMillis(9_900));
    }
}

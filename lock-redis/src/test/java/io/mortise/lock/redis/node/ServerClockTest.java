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
        assertThat(clock.latestTimeAt(SENT, SECOND)).isEqualTo(SHOWN.plus(MICROSECOND));
        assertThat(clock.latestTimeAt(SENT.plus(SECOND.multipliedBy(10)), SECOND))
                .as("10 s and 1 %")
                .isEqualTo(SHOWN.plus(Duration.ofMillis(10_100)).plus(MICROSECOND));
    }

    /** Otherwise a request of a client that had no such reply for a day could be executed a quarter of an hour late. */
    @Test
    void S08_theDriftSinceAnOldReplyIsBounded() {
        clock.onReply(SENT, SHOWN);
        assertThat(clock.latestTimeAt(SENT.plus(Duration.ofDays(1)), SECOND))
                .isEqualTo(SHOWN.plus(Duration.ofDays(1)).plus(SECOND).plus(MICROSECOND));
    }

    @Test
    void beforeTheFirstReplyTheClockIsUnknown() {
        assertThat(clock.latestTimeAt(SENT, SECOND)).isEqualTo(ServerTime.UNKNOWN);
        clock.onReply(SENT, SHOWN);
        clock.forget();
        assertThat(clock.latestTimeAt(SENT, SECOND)).isEqualTo(ServerTime.UNKNOWN);
    }

    @Test
    void anInstantBeforeTheLastReplyYieldsTheTimeOfThatReply() {
        clock.onReply(SENT, SHOWN);
        assertThat(clock.latestTimeAt(SENT.minus(SECOND), SECOND)).isEqualTo(SHOWN.plus(MICROSECOND));
    }

    @Test
    void theLatestReplyCounts() {
        ServerTime setBack = new ServerTime(9_000_000);
        clock.onReply(SENT, SHOWN);
        clock.onReply(SENT.plus(SECOND), setBack);
        assertThat(clock.latestTimeAt(SENT.plus(SECOND.multipliedBy(2)), SECOND))
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

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ServerClockTest {
    private static final long SECOND_MICROS = 1_000_000;
    private static final long SECOND_NANOS = 1_000_000_000;

    /** Close to the overflow of nanoTime. */
    private static final long SENT = Long.sum(Long.MAX_VALUE, -SECOND_NANOS);

    @Test
    void theServersClockShowsAtMostWhatHasPassedSinceTheRequestWasSent() {
        ServerClock time = new ServerClock();
        time.heard(SENT, 500 * SECOND_MICROS);
        assertThat(time.atMost(SENT)).isEqualTo(500 * SECOND_MICROS + 1);
        assertThat(time.atMost(SENT + 10 * SECOND_NANOS)).isEqualTo(510 * SECOND_MICROS + SECOND_MICROS / 10 + 1);
    }

    @Test
    void anInstantBeforeTheAnchorIsNoEarlierThanIt() {
        ServerClock time = new ServerClock();
        time.heard(SENT, 500 * SECOND_MICROS);
        assertThat(time.atMost(SENT - SECOND_NANOS)).isEqualTo(500 * SECOND_MICROS + 1);
    }

    @Test
    void theLatestAnswerCounts() {
        ServerClock time = new ServerClock();
        time.heard(SENT, 500 * SECOND_MICROS);
        time.heard(SENT + SECOND_NANOS, 9 * SECOND_MICROS); // it was set back
        assertThat(time.atMost(SENT + 2 * SECOND_NANOS)).isEqualTo(10 * SECOND_MICROS + SECOND_MICROS / 100 + 1);
    }

    @Test
    void S02_aPushedGrantBeganNoEarlierThanTheServersClockHasGoneOn() {
        assertThat(ServerClock.noLaterThan(SENT, 7, 7)).isEqualTo(SENT);
        assertThat(ServerClock.noLaterThan(SENT, 7, 7 + 10 * SECOND_MICROS) - SENT)
                .as("10 s less 1 %")
                .isEqualTo(9_900_000_000L);
    }
}

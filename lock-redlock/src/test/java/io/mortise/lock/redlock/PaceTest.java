// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.ManualClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class PaceTest {
    private final ManualClock clock = new ManualClock();
    private final Pace pace = new Pace(clock);

    @Test
    void whoIsLateOnceOrTwiceIsAskedAgain() {
        for (int i = 0; i < 10; i++) {
            assertThat(pace.unanswered(clock.nanoTime())).isFalse();
            assertThat(pace.unanswered(clock.nanoTime())).isFalse();
            assertThat(pace.lags()).isFalse();
            pace.answered();
        }
    }

    @Test
    void whoIsLateInARowLagsUntilItAnswersAGreeting() {
        pace.unanswered(clock.nanoTime());
        pace.unanswered(clock.nanoTime());
        assertThat(pace.unanswered(clock.nanoTime())).as("told once").isTrue();
        assertThat(pace.unanswered(clock.nanoTime())).isFalse();
        pace.answered(); // one that had been sent before
        assertThat(pace.lags()).isTrue();
        pace.greeted();
        assertThat(pace.lags()).isFalse();
    }

    @Test
    void whatWasSentBeforeItAnsweredTheGreetingSaysNothing() {
        long before = clock.nanoTime();
        clock.advance(Duration.ofMillis(100));
        pace.greeted();
        for (int i = 0; i < 10; i++) {
            assertThat(pace.unanswered(before)).isFalse();
        }
        assertThat(pace.lags()).isFalse();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class MasterHealthTest {
    private final ManualClock clock = new ManualClock();
    private final MasterHealth health = new MasterHealth(clock);

    @Test
    void oneOrTwoLateAnswersAreTolerated() {
        for (int i = 0; i < 10; i++) {
            assertThat(health.unanswered(clock.nanoTime())).isFalse();
            assertThat(health.unanswered(clock.nanoTime())).isFalse();
            assertThat(health.isLagging()).isFalse();
            health.answered();
        }
    }

    @Test
    void repeatedLateAnswersMeanLaggingUntilAHandshake() {
        health.unanswered(clock.nanoTime());
        health.unanswered(clock.nanoTime());
        assertThat(health.unanswered(clock.nanoTime())).as("told once").isTrue();
        assertThat(health.unanswered(clock.nanoTime())).isFalse();
        health.answered(); // to an earlier request
        assertThat(health.isLagging()).isTrue();
        health.handshakeSucceeded();
        assertThat(health.isLagging()).isFalse();
    }

    @Test
    void requestsSentBeforeTheHandshakeDoNotCount() {
        long before = clock.nanoTime();
        clock.advance(Duration.ofMillis(100));
        health.handshakeSucceeded();
        for (int i = 0; i < 10; i++) {
            assertThat(health.unanswered(before)).isFalse();
        }
        assertThat(health.isLagging()).isFalse();
    }
}

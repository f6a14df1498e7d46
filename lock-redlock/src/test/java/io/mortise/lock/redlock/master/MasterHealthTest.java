// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.MonotonicTime;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class MasterHealthTest {
    private final ManualClock clock = new ManualClock();
    private final MasterHealth health = new MasterHealth(clock);

    @Test
    void oneOrTwoLateAnswersAreTolerated() {
        for (int i = 0; i < 10; i++) {
            assertThat(health.unanswered(clock.now())).isFalse();
            assertThat(health.unanswered(clock.now())).isFalse();
            assertThat(health.isLagging()).isFalse();
            health.answered();
        }
    }

    @Test
    void repeatedLateAnswersMeanLaggingUntilAHandshake() {
        health.unanswered(clock.now());
        health.unanswered(clock.now());
        assertThat(health.unanswered(clock.now())).as("told once").isTrue();
        assertThat(health.unanswered(clock.now())).isFalse();
        health.answered(); // to an earlier request
        assertThat(health.isLagging()).isTrue();
        health.handshakeSucceeded();
        assertThat(health.isLagging()).isFalse();
    }

    @Test
    void requestsSentBeforeTheHandshakeDoNotCount() {
        MonotonicTime before = clock.now();
        clock.advance(Duration.ofMillis(100));
        health.handshakeSucceeded();
        for (int i = 0; i < 10; i++) {
            assertThat(health.unanswered(before)).isFalse();
        }
        assertThat(health.isLagging()).isFalse();
    }
}

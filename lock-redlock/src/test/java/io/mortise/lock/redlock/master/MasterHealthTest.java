// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Tests that {@link MasterHealth} considers a master lagging after repeated missing replies. */
class MasterHealthTest {
    private final ManualClock clock = new ManualClock();
    private final MasterHealth health = new MasterHealth(clock);

    @Test
    void oneOrTwoMissingRepliesAreTolerated() {
        for (int i = 0; i < 10; i++) {
            assertThat(health.replyMissing(clock.now())).isFalse();
            assertThat(health.replyMissing(clock.now())).isFalse();
            assertThat(health.isLagging()).isFalse();
            health.replyReceived();
        }
    }

    @Test
    void repeatedMissingRepliesMeanLaggingUntilAHandshake() {
        health.replyMissing(clock.now());
        health.replyMissing(clock.now());
        assertThat(health.replyMissing(clock.now())).as("reported once").isTrue();
        assertThat(health.replyMissing(clock.now())).isFalse();
        health.replyReceived(); // the reply to an earlier request
        assertThat(health.isLagging()).isTrue();
        health.handshakeSucceeded();
        assertThat(health.isLagging()).isFalse();
    }

    @Test
    void requestsSentBeforeTheHandshakeDoNotCount() {
        MonotonicInstant before = clock.now();
        clock.advance(Duration.ofMillis(100));
        health.handshakeSucceeded();
        for (int i = 0; i < 10; i++) {
            assertThat(health.replyMissing(before)).isFalse();
        }
        assertThat(health.isLagging()).isFalse();
    }
}

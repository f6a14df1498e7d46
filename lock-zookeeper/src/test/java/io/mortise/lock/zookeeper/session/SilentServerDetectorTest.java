// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests when a server counts as silent, with a manual clock. */
class SilentServerDetectorTest {
    private static final Duration SILENCE_LIMIT = Duration.ofSeconds(4);

    private final ManualClock clock = new ManualClock();
    private final CompletableFuture<Boolean> request = new CompletableFuture<>();
    private MonotonicInstant lastResponseAt = clock.now().minus(Duration.ofNanos(1));
    private int detections;

    private void start() {
        SilentServerDetector.start(clock, SILENCE_LIMIT, () -> lastResponseAt, request, () -> detections++);
    }

    @Test
    void S07_aServerThatSendsNoResponseIsDetectedOnce() {
        start();
        clock.advance(SILENCE_LIMIT.minusMillis(1));
        assertThat(detections).isZero();
        clock.advance(Duration.ofMillis(1));
        assertThat(detections).isOne();
        assertThat(clock.timerCount()).isZero();
    }

    @Test
    void S07_aBusyServerIsNotSilent() {
        start();
        for (int i = 0; i < 10; i++) {
            clock.advance(SILENCE_LIMIT.minusMillis(1));
            lastResponseAt = clock.now();
        }
        assertThat(detections).isZero();
        clock.advance(SILENCE_LIMIT);
        assertThat(detections).as("counted from the last response").isOne();
    }

    @Test
    void S07_aCompletedRequestEndsTheDetection() {
        start();
        request.complete(true);
        assertThat(clock.timerCount()).isZero();
        clock.advance(SILENCE_LIMIT);
        assertThat(detections).isZero();
    }
}

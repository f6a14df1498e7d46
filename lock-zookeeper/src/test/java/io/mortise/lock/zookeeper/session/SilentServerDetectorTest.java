// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.MonotonicTime;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class SilentServerDetectorTest {
    private static final Duration SILENCE_LIMIT = Duration.ofSeconds(4);

    private final ManualClock clock = new ManualClock();
    private final CompletableFuture<Boolean> proof = new CompletableFuture<>();
    private MonotonicTime answeredAt = clock.now().minus(Duration.ofNanos(1));
    private int left;

    private void start() {
        SilentServerDetector.start(clock, SILENCE_LIMIT, () -> answeredAt, proof, () -> left++);
    }

    @Test
    void S07_aServerThatAnswersNothingIsLeftOnce() {
        start();
        clock.advance(SILENCE_LIMIT.minusMillis(1));
        assertThat(left).isZero();
        clock.advance(Duration.ofMillis(1));
        assertThat(left).isOne();
        assertThat(clock.timers()).isZero();
    }

    @Test
    void S07_aServerWithALongQueueIsNotLeft() {
        start();
        for (int i = 0; i < 10; i++) {
            clock.advance(SILENCE_LIMIT.minusMillis(1));
            answeredAt = clock.now();
        }
        assertThat(left).isZero();
        clock.advance(SILENCE_LIMIT);
        assertThat(left).as("counted from its last answer").isOne();
    }

    @Test
    void S07_anAnsweredProofEndsTheWait() {
        start();
        proof.complete(true);
        assertThat(clock.timers()).isZero();
        clock.advance(SILENCE_LIMIT);
        assertThat(left).isZero();
    }
}

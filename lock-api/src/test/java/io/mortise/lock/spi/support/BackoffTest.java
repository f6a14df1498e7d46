// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Tests the lengths of the pauses between attempts. */
class BackoffTest {
    @Test
    void pausesDoubleUpToTheLongestAndBeginAnew() {
        Backoff backoff = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(1), new Random(1));
        for (long millis : new long[] {100, 200, 400, 800, 1_000, 1_000}) {
            assertThat(backoff.next())
                    .isBetween(
                            Duration.ofMillis(millis),
                            Duration.ofMillis(millis).multipliedBy(6).dividedBy(5));
        }
        backoff.reset();
        assertThat(backoff.next()).isLessThanOrEqualTo(Duration.ofMillis(120));
    }

    @Test
    void theJitterVariesUnlessThePauseIsTooShort() {
        Random random = new Random(1);
        Duration pause = Duration.ofMillis(100);
        assertThat(Backoff.jittered(pause, random)).isNotEqualTo(Backoff.jittered(pause, random));
        assertThat(Backoff.jittered(Duration.ofNanos(4), random)).isEqualTo(Duration.ofNanos(4));
        assertThat(Backoff.jittered(Duration.ZERO, random)).isZero();
    }
}

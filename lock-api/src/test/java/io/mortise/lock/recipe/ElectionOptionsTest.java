// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.recipe;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.DistributedLock;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests the pauses after several failures. */
class ElectionOptionsTest {
    private final ElectionOptions options = Election.on((DistributedLock) Proxy.newProxyInstance(
            DistributedLock.class.getClassLoader(),
            new Class<?>[] {DistributedLock.class},
            (proxy, method, arguments) -> {
                throw new AssertionError(method);
            }));

    @Test
    void thePauseDoublesWithEachFailureUpToTheLongest() {
        assertThat(IntStream.of(1, 2, 3, 5, 6, 1000).mapToObj(options::pauseAfterFailures))
                .containsExactly(
                        Duration.ofSeconds(1),
                        Duration.ofSeconds(2),
                        Duration.ofSeconds(4),
                        Duration.ofSeconds(16),
                        Duration.ofSeconds(30),
                        Duration.ofSeconds(30));
    }

    @Test
    void theLongestPausesDoNotOverflow() {
        Duration longest = Duration.ofDays(36_500);
        ElectionOptions patient = options.pauseAfterFailure(longest.minusDays(1), longest)
                .pauseAfterTerm(longest)
                .stopTimeout(longest);
        assertThat(patient.pauseAfterFailures(Integer.MAX_VALUE)).isEqualTo(longest);
        assertThat(patient.stopTimeout().toNanos()).isPositive();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.recipe;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.spi.support.Backoff;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.ThreadFactory;
import org.junit.jupiter.api.Test;

/** Tests the copies of the options, and the pauses after several failures. */
class ElectionOptionsTest {
    private final ElectionOptions options = Election.on((DistributedLock) Proxy.newProxyInstance(
            DistributedLock.class.getClassLoader(),
            new Class<?>[] {DistributedLock.class},
            (proxy, method, arguments) -> {
                throw new AssertionError(method);
            }));

    @Test
    void thePauseDoublesWithEachFailureUpToTheLongestAndBeginsAnew() {
        Backoff pauses = options.failurePauses();
        for (long seconds : new long[] {1, 2, 4, 8, 16, 30, 30}) {
            assertThat(pauses.next()).isBetween(Duration.ofSeconds(seconds), Duration.ofMillis(seconds * 1_200));
        }
        pauses.reset();
        assertThat(pauses.next()).isLessThanOrEqualTo(Duration.ofMillis(1_200));
    }

    @Test
    void theLongestPausesDoNotOverflow() {
        Duration longest = Duration.ofDays(36_500);
        ElectionOptions patient = options.pauseAfterFailure(longest.minusDays(1), longest)
                .pauseAfterTerm(longest)
                .stopTimeout(longest);
        Backoff pauses = patient.failurePauses();
        for (int failure = 0; failure < 100; failure++) {
            assertThat(pauses.next().toNanos())
                    .isGreaterThanOrEqualTo(longest.minusDays(1).toNanos());
        }
        assertThat(patient.stopTimeout().toNanos()).isPositive();
    }

    @Test
    void eachOptionLeavesTheOthersAndTheOriginal() {
        ElectionListener one = new ElectionListener() {};
        ElectionListener two = new ElectionListener() {};
        ThreadFactory threads = Thread::new;
        ElectionOptions changed = options.listener(one)
                .threads(threads)
                .stopTimeout(Duration.ofSeconds(2))
                .pauseAfterTerm(Duration.ofSeconds(3))
                .pauseAfterFailure(Duration.ofSeconds(4), Duration.ofSeconds(5))
                .listener(two);
        assertThat(changed.listeners()).containsExactly(one, two);
        assertThat(changed.threads()).isSameAs(threads);
        assertThat(changed.stopTimeout()).isEqualTo(Duration.ofSeconds(2));
        assertThat(changed.pauseAfterTerm()).isEqualTo(Duration.ofSeconds(3));
        assertThat(changed.failurePauses().next()).isBetween(Duration.ofSeconds(4), Duration.ofMillis(4_800));
        assertThat(options.listeners()).isEmpty();
        assertThat(options.stopTimeout()).isEqualTo(Duration.ofSeconds(10));
    }
}

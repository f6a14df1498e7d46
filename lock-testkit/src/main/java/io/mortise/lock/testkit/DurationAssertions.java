// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.concurrent.Callable;

/** Upper bounds for durations: a generous one for each try, the rule's own for the best of several. */
final class DurationAssertions {
    private static final int TRIES = 5;

    private DurationAssertions() {}

    /** Each run returns what it took, beyond what it was allowed to take. */
    static void overshoot(String what, Duration each, Duration best, Callable<Duration> run) throws Exception {
        Duration shortest = each;
        for (int i = 0; i < TRIES; i++) {
            Duration took = run.call();
            assertThat(took).as(what).isLessThan(each);
            shortest = Durations.shorter(took, shortest);
        }
        assertThat(shortest).as(what + ", best of " + TRIES).isLessThan(best);
    }

    static Duration since(long startNanos) {
        return Duration.ofNanos(System.nanoTime() - startNanos);
    }
}

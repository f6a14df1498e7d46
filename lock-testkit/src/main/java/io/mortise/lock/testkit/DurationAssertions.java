// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.concurrent.Callable;

/** Asserts that each of several tries meets a generous time limit, and that the best one meets a strict limit. */
final class DurationAssertions {
    private static final int TRIES = 5;

    private DurationAssertions() {}

    /**
     * Runs the operation several times and checks how far it exceeded its allowed time.
     *
     * @param each limit that every run must meet
     * @param best limit that the best run must meet
     * @param run returns by how much it exceeded its allowed time
     */
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

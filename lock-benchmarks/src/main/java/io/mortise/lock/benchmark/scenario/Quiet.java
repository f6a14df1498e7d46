// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits until all who were to stand in line do: no work reaches the server any more. */
final class Quiet {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final long PAUSE_NANOS = 2_000_000;

    private Quiet() {}

    /** Returns when {@code condition} held and no request came for all of {@code span}. */
    static void await(Trial trial, Duration span, BooleanSupplier condition) {
        long start = System.nanoTime();
        Map<String, Long> last = trial.backend().requests();
        long since = start;
        while (System.nanoTime() - since < span.toNanos()) {
            LockSupport.parkNanos(PAUSE_NANOS);
            if (!condition.getAsBoolean() || !trial.workSince(last).isEmpty()) {
                last = trial.backend().requests();
                since = System.nanoTime();
            }
            if (System.nanoTime() - start > LIMIT.toNanos()) {
                throw new IllegalStateException(trial + ": not all stand in line after " + LIMIT.toSeconds() + " s");
            }
        }
    }
}

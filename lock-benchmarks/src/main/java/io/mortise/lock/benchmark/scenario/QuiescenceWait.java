// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits until no more requests reach the server: all waiters are queued. */
final class QuiescenceWait {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final long PAUSE_NANOS = 2_000_000;
    private static final int LATE_TIMES = 5;

    private QuiescenceWait() {}

    /**
     * Returns when {@code condition} held and no request came for all of {@code span}, or for longer on a machine where
     * threads wait long for a processor: so long that a thread that still has something to send has had its turn, but not so
     * long that a renewal is due, which is a request too.
     */
    static void await(CompetitorRound trial, Duration span, BooleanSupplier condition) {
        long start = System.nanoTime();
        long needed = span.toNanos();
        long most = Math.max(needed, trial.backend().renewal().toNanos() * 7 / 10);
        Map<String, Long> last = trial.backend().requests();
        long since = start;
        long now = start;
        while (now - since < needed) {
            LockSupport.parkNanos(PAUSE_NANOS);
            long before = now;
            now = System.nanoTime();
            needed = Math.max(needed, Math.min(most, LATE_TIMES * (now - before - PAUSE_NANOS)));
            if (!condition.getAsBoolean() || !trial.workSince(last).isEmpty()) {
                last = trial.backend().requests();
                since = now;
            }
            if (now - start > LIMIT.toNanos()) {
                throw new IllegalStateException(
                        trial + ": not all stand in the queue after " + LIMIT.toSeconds() + " s");
            }
        }
    }
}

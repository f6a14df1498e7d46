// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits until the server receives no more requests, which shows that all waiters are queued. */
final class QuiescenceWait {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final long PAUSE_NANOS = 2_000_000;
    private static final int LATE_TIMES = 5;

    private QuiescenceWait() {}

    /**
     * Returns once {@code condition} has held and no request has arrived for the whole of {@code span}. On a machine where
     * threads wait long for a processor it observes for longer, so that a thread with a pending request gets to send it, but
     * not so long that a renewal, which is a request too, becomes due.
     */
    static void await(CompetitorRoundRunner round, Duration span, BooleanSupplier condition) {
        long start = System.nanoTime();
        long needed = span.toNanos();
        long most = Math.max(needed, round.backend().renewal().toNanos() * 7 / 10);
        Map<String, Long> last = round.backend().requests();
        long since = start;
        long now = start;
        while (now - since < needed) {
            LockSupport.parkNanos(PAUSE_NANOS);
            long before = now;
            now = System.nanoTime();
            needed = Math.max(needed, Math.min(most, LATE_TIMES * (now - before - PAUSE_NANOS)));
            if (!condition.getAsBoolean() || !round.workSince(last).isEmpty()) {
                last = round.backend().requests();
                since = now;
            }
            if (now - start > LIMIT.toNanos()) {
                throw new IllegalStateException(
                        round + ": not all waiters are queued after " + LIMIT.toSeconds() + " s");
            }
        }
    }
}

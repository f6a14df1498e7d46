// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.process;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Polls a condition until it is true or a time limit has passed. */
public final class Await {
    private static final long PAUSE_NANOS = 5_000_000;

    private Await() {}

    /**
     * Returns once {@code condition} holds.
     *
     * @throws IllegalStateException if it does not hold within {@code limit}, or if the thread is interrupted (the
     *     interrupt flag stays set)
     */
    public static void until(String what, Duration limit, BooleanSupplier condition) {
        if (!holdsWithin(limit, condition)) {
            throw new IllegalStateException("Timed out after " + limit + " waiting until " + what);
        }
    }

    /**
     * Returns true once {@code condition} holds, or false if it does not hold within {@code limit} or the thread is
     * interrupted.
     */
    public static boolean holdsWithin(Duration limit, BooleanSupplier condition) {
        long start = System.nanoTime();
        while (true) {
            boolean last = System.nanoTime() - start > limit.toNanos(); // a check after a stall of this thread counts
            if (condition.getAsBoolean()) {
                return true;
            }
            if (last || Thread.currentThread().isInterrupted()) {
                return false;
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }
}

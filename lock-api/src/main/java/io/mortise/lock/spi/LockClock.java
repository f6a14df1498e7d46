// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import java.time.Duration;

/**
 * Monotonic time in nanoseconds, and timers: the only source of time of the core and the backends. Tests move it by a
 * {@link io.mortise.lock.spi.testing.ManualClock}.
 */
public interface LockClock {
    /** As {@link System#nanoTime()}: compare by subtraction only. */
    long nanoTime();

    /** Runs the task once after the delay, on the clock's thread: it must return at once and runs no user code. */
    Timer schedule(Duration delay, Runnable task);

    /** A scheduled task. */
    interface Timer {
        /** Keeps the task from running, if it has not begun. */
        void cancel();
    }

    /**
     * Until when a grant is certainly valid, if the request that proved it was sent at {@code sentNanos}: the lease, less 1% for
     * clocks that run at different speeds and 2 ms for timers that fire late (S2).
     */
    static long deadline(long sentNanos, Duration lease) {
        long nanos = lease.toNanos();
        return sentNanos + nanos - nanos / 100 - 2_000_000;
    }
}

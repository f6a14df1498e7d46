// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import io.mortise.lock.spi.support.Durations;
import java.time.Duration;

/**
 * Monotonic clock with timers, the only source of time of the core and the backends. Tests move it by a
 * {@link io.mortise.lock.spi.testing.ManualClock}. Thread-safe.
 */
public interface LockClock {
    /** How late a timer may fire. */
    Duration TIMER_DELAY = Duration.ofMillis(2);

    /** Returns the present instant; never before one that was returned earlier. */
    MonotonicTime now();

    /** Returns the time that has passed since the instant; negative if it is yet to come. */
    default Duration since(MonotonicTime then) {
        return then.until(now());
    }

    /** Returns the time that is left until the instant; negative if it has passed. */
    default Duration until(MonotonicTime then) {
        return now().until(then);
    }

    /** Returns whether nothing is left until the deadline. */
    default boolean hasPassed(MonotonicTime deadline) {
        return !now().isBefore(deadline);
    }

    /** Runs the task once after the delay, on the clock's thread: it must return at once and runs no user code. */
    Timer schedule(Duration delay, Runnable task);

    /** A scheduled task. */
    interface Timer {
        /** Keeps the task from running, if it has not begun. */
        void cancel();
    }

    /**
     * Returns until when a grant is certainly valid, if the request that proved it was sent at that instant: the lease duration,
     * less 1% for clocks that run at different speeds and 2 ms for timers that fire late (S2).
     */
    static MonotonicTime deadline(MonotonicTime sent, Duration leaseDuration) {
        return sent.plus(leaseDuration)
                .minus(Durations.divide(leaseDuration, 100))
                .minus(TIMER_DELAY);
    }
}

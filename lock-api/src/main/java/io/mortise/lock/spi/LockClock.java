// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import io.mortise.lock.spi.support.Durations;
import java.time.Duration;

/**
 * A monotonic clock with timers, the only source of time for the core and the backends. Tests replace it with a
 * {@link io.mortise.lock.spi.testing.ManualClock}. Thread-safe.
 */
public interface LockClock {
    /** The delay with which a timer may fire. */
    Duration TIMER_DELAY = Duration.ofMillis(2);

    /** Returns the current instant, which is never before one that was returned earlier. */
    MonotonicInstant now();

    /** Returns the time that has passed since the instant; negative if the instant is in the future. */
    default Duration since(MonotonicInstant then) {
        return then.until(now());
    }

    /** Returns the time that remains until the instant; negative if it has passed. */
    default Duration until(MonotonicInstant then) {
        return now().until(then);
    }

    /** Returns whether the deadline has been reached. */
    default boolean hasPassed(MonotonicInstant deadline) {
        return !now().isBefore(deadline);
    }

    /**
     * Schedules a task that runs once, on the clock's thread, after the delay.
     *
     * @param delay zero or less to run the task as soon as possible
     * @param task must return immediately, and must not run user code
     */
    Timer schedule(Duration delay, Runnable task);

    /** A scheduled task, which can be cancelled. */
    interface Timer {
        /** Prevents the task from running, unless it has already started. */
        void cancel();
    }

    /**
     * Returns the instant until which a grant is certainly valid. It counts from the moment when the request that created or
     * renewed the grant was sent, and is early by 1 % of the lease duration, for clocks that run at different speeds, plus 2
     * ms, for timers that fire late (S2).
     *
     * @param sent when that request was sent
     */
    static MonotonicInstant deadline(MonotonicInstant sent, Duration leaseDuration) {
        return sent.plus(leaseDuration)
                .minus(Durations.divide(leaseDuration, 100))
                .minus(TIMER_DELAY);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core;

import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The monotonic clock of the machine, with one timer thread. */
final class SystemClock implements LockClock {
    private static final Logger log = LoggerFactory.getLogger(SystemClock.class);

    private final ScheduledThreadPoolExecutor timer;

    /** Starts the thread when the first timer is set. */
    SystemClock() {
        timer = new ScheduledThreadPoolExecutor(1, Threads.daemon("mortise-timer"));
        timer.setRemoveOnCancelPolicy(true); // most timers guard something that ends well
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
        try {
            ScheduledFuture<?> scheduled =
                    timer.schedule(() -> runSafely(task), Math.max(0, delay.toNanos()), TimeUnit.NANOSECONDS);
            return () -> scheduled.cancel(false);
        } catch (RejectedExecutionException e) {
            return () -> {}; // closed: nothing is due any more
        }
    }

    private static void runSafely(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            log.error("event=timer-failed", e);
        }
    }

    /** Ends the thread; what is still scheduled does not run. */
    void stop() {
        timer.shutdownNow();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.process;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Notices when this JVM stands still, because the machine does, or its processors or its garbage collector give it no time: a
 * thread that sleeps for 50 ms then wakes up late. Runs from its first use. Thread-safe.
 */
public final class PauseMonitor {
    private static final long INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final PauseMonitor INSTANCE = new PauseMonitor();

    static {
        Thread thread = new Thread(INSTANCE::watch, "pause-monitor");
        thread.setDaemon(true);
        thread.start();
    }

    // Guarded by "this".
    private long ticks;
    private long pauseEnd = System.nanoTime();
    private long pauseNanos;

    private PauseMonitor() {}

    /** Starts to watch, unless that has begun. */
    public static void start() {
        // The initialization of the class has done so.
    }

    /**
     * Returns the last pause that ended after an instant; zero if there was none. Shorter ones than {@code shortest} do not count.
     *
     * @param nanoTime the instant, by {@link System#nanoTime()}
     */
    public static Duration since(long nanoTime, Duration shortest) {
        return INSTANCE.lastSince(nanoTime, shortest);
    }

    private synchronized Duration lastSince(long nanoTime, Duration shortest) {
        awaitTick(); // a pause that has just ended is noticed by then
        Duration last = Duration.ofNanos(pauseNanos);
        return pauseEnd - nanoTime >= 0 && last.compareTo(shortest) >= 0 ? last : Duration.ZERO;
    }

    private void awaitTick() {
        boolean interrupted = false;
        for (long now = ticks; ticks == now; ) {
            try {
                wait();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void watch() {
        while (true) {
            long begun = System.nanoTime();
            LockSupport.parkNanos(INTERVAL_NANOS);
            long end = System.nanoTime();
            tick(end, end - begun - INTERVAL_NANOS);
        }
    }

    private synchronized void tick(long end, long late) {
        ticks++;
        if (late > 4 * INTERVAL_NANOS) {
            pauseEnd = end;
            pauseNanos = late;
        }
        notifyAll();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.process;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Notices when this JVM stands still, because the machine does, or its processors or its garbage collector give it no time: a
 * thread that sleeps for 50 ms then wakes up late. Runs from its first use. Thread-safe.
 */
public final class PauseMonitor {
    private static final long INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    /** A pause that a client with a request timeout of half a second, the shortest of most tests, may not bear. */
    private static final Duration PAUSE = Duration.ofMillis(500);

    private static final int MOST_PAUSES = 1_000;
    private static final PauseMonitor INSTANCE = new PauseMonitor();

    static {
        Thread thread = new Thread(INSTANCE::watch, "pause-monitor");
        thread.setDaemon(true);
        thread.start();
    }

    // Guarded by "this".
    private long ticks;
    private final Deque<Pause> pauses = new ArrayDeque<>(); // the latest first

    private record Pause(long end, Duration length) {}

    private PauseMonitor() {}

    /** Starts to watch, unless that has begun. */
    public static void start() {
        // The initialization of the class has done so.
    }

    /**
     * Returns the last pause that ended after an instant; zero if there was none. Pauses below 0.5 s do not count.
     *
     * @param nanoTime the instant, by {@link System#nanoTime()}
     */
    public static Duration since(long nanoTime) {
        return INSTANCE.lastSince(nanoTime);
    }

    private synchronized Duration lastSince(long nanoTime) {
        awaitTick(); // a pause that has just ended is noticed by then
        return pauses.stream()
                .takeWhile(pause -> pause.end - nanoTime >= 0)
                .map(Pause::length)
                .findFirst()
                .orElse(Duration.ZERO);
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
            tick(new Pause(end, Duration.ofNanos(end - begun - INTERVAL_NANOS)));
        }
    }

    private synchronized void tick(Pause pause) {
        ticks++;
        if (pause.length.compareTo(PAUSE) >= 0) {
            pauses.addFirst(pause);
            if (pauses.size() > MOST_PAUSES) {
                pauses.removeLast();
            }
        }
        notifyAll();
    }
}

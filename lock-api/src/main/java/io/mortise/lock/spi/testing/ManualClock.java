// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.testing;

import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.Comparator;
import java.util.Optional;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/** A clock whose time changes only when a test advances it. Its timers run on the thread that advances it. Thread-safe. */
public final class ManualClock implements LockClock {
    private final PriorityQueue<Task> tasks =
            new PriorityQueue<>(Comparator.<Task>comparingLong(t -> t.at).thenComparingLong(t -> t.order));
    private long now;
    private long scheduled;

    /** Creates a clock that starts at zero. */
    public ManualClock() {}

    @Override
    public synchronized MonotonicInstant now() {
        return new MonotonicInstant(now);
    }

    @Override
    public synchronized Timer schedule(Duration delay, Runnable task) {
        Task entry = new Task(now + Math.max(0, delay.toNanos()), scheduled++, task);
        tasks.add(entry);
        return () -> {
            synchronized (this) {
                tasks.remove(entry);
            }
        };
    }

    /** Advances the time, and runs the timers that become due, in order and each at its own instant, on the calling thread. */
    public void advance(Duration by) {
        long end = now().plus(by).nanos();
        while (true) {
            Task next = takeDue(end, true);
            if (next == null) {
                break;
            }
            next.run.run();
        }
        synchronized (this) {
            now = Math.max(now, end);
        }
    }

    /**
     * Advances the time as a paused process experiences it: first the whole time passes, then the timers that became due run
     * late, on the calling thread.
     */
    public void advanceThenRunTimers(Duration by) {
        advanceWithoutTimers(by);
        // One at a time, so that a late task can cancel later ones.
        for (Task task = takeDue(now().nanos(), false); task != null; task = takeDue(now().nanos(), false)) {
            task.run.run();
        }
    }

    /** Advances the time without running any timer, as in the first instant after a pause of the process. */
    public synchronized void advanceWithoutTimers(Duration by) {
        now += by.toNanos();
    }

    /** Returns the time until the next timer is due; zero if one is late, and empty if none is set. */
    public synchronized Optional<Duration> untilNextTimer() {
        Task next = tasks.peek();
        return next == null ? Optional.empty() : Optional.of(Duration.ofNanos(Math.max(0, next.at - now)));
    }

    /** Returns the number of timers that are set. A client that was closed leaves none. */
    public synchronized int timerCount() {
        return tasks.size();
    }

    private synchronized @Nullable Task takeDue(long end, boolean move) {
        Task next = tasks.peek();
        if (next == null || next.at > end) {
            return null;
        }
        tasks.remove();
        if (move) {
            now = Math.max(now, next.at);
        }
        return next;
    }

    /** A timer that is set. */
    private static final class Task {
        private final long at;
        private final long order;
        private final Runnable run;

        Task(long at, long order, Runnable run) {
            this.at = at;
            this.order = order;
            this.run = run;
        }
    }
}

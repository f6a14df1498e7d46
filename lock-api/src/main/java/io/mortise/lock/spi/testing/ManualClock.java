// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.testing;

import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicTime;
import java.time.Duration;
import java.util.Comparator;
import java.util.Optional;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/** A clock that tests move by hand. Thread-safe. */
public final class ManualClock implements LockClock {
    private final PriorityQueue<Task> tasks =
            new PriorityQueue<>(Comparator.<Task>comparingLong(t -> t.at).thenComparingLong(t -> t.order));
    private long now;
    private long scheduled;

    /** Time begins at zero. */
    public ManualClock() {}

    @Override
    public synchronized MonotonicTime now() {
        return new MonotonicTime(now);
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

    /** Moves time on, running what falls due in order, each at its own instant, on the calling thread. */
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

    /** Moves time on as a stopped process sees it: nothing runs meanwhile, then all that fell due runs late. */
    public void jump(Duration by) {
        leap(by);
        // One by one: what a late task cancels does not run.
        for (Task task = takeDue(now().nanos(), false); task != null; task = takeDue(now().nanos(), false)) {
            task.run.run();
        }
    }

    /** Moves time on and runs nothing: the first instant after a pause, before any timer has fired. */
    public synchronized void leap(Duration by) {
        now += by.toNanos();
    }

    /** How long until the next timer falls due; empty if none is set. Zero if one is late. */
    public synchronized Optional<Duration> untilNext() {
        Task next = tasks.peek();
        return next == null ? Optional.empty() : Optional.of(Duration.ofNanos(Math.max(0, next.at - now)));
    }

    /** How many timers are set: a client that has ended leaves none. */
    public synchronized int timers() {
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

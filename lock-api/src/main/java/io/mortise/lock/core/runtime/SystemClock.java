// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.runtime;

import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.Queue;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The clock of production clients; it reads {@link System#nanoTime()} and runs all timers on one thread.
 *
 * <p>Scheduling and cancelling a timer acquires no lock, so both are allowed under a monitor (ADR 0040): a virtual thread that
 * is pinned by a monitor never waits here for a thread that needs its carrier. Callers put timers into a lock-free queue, and
 * only the timer thread sorts them. It is woken only for a timer that is due before all others, or to drain a long queue.
 */
public final class SystemClock implements LockClock {
    private static final Logger log = LoggerFactory.getLogger(SystemClock.class);

    /** The number of queued timers that wakes the thread, so that cancelled timers do not accumulate. */
    private static final int MOST_QUEUED = 1_000;

    private static final long LONGEST_PARK = Duration.ofHours(1).toNanos();
    private static final long PARK_AFTER_FAILURE = Duration.ofMillis(1).toNanos();

    private final TimerThread threads;
    private final Queue<Task> queued =
            new ConcurrentLinkedQueue<>(); // scheduled or cancelled since the thread last drained it
    private final AtomicInteger queuedCount = new AtomicInteger();
    private final TreeSet<Task> pending = new TreeSet<>(); // used by the timer thread only
    private final AtomicLong numbers = new AtomicLong();
    private final AtomicReference<@Nullable Thread> thread = new AtomicReference<>();
    private volatile long parkedUntil = System.nanoTime();
    private volatile int pendingCount;
    private volatile boolean stopped;

    public SystemClock() {
        this(SystemClock::daemon);
    }

    SystemClock(TimerThread threads) {
        this.threads = threads;
    }

    /** Creates the timer thread. An interface of our own, since timers are also set under a monitor (ADR 0040). */
    interface TimerThread {
        Thread create(Runnable timers);
    }

    private static Thread daemon(Runnable timers) {
        Thread thread = new Thread(timers, "mortise-timer-1");
        thread.setDaemon(true);
        return thread;
    }

    @Override
    public MonotonicInstant now() {
        return new MonotonicInstant(System.nanoTime());
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
        Task scheduled = new Task(System.nanoTime() + Math.max(0, delay.toNanos()), numbers.getAndIncrement(), task);
        if (!stopped) {
            enqueue(scheduled);
            // No wake-up is lost: the thread writes parkedUntil and then reads the queue; this method does it in
            // reverse order.
            if (scheduled.at - parkedUntil < 0) {
                LockSupport.unpark(thread.get());
            }
        }
        return scheduled;
    }

    private void enqueue(Task task) {
        queued.add(task);
        if (thread.get() == null) {
            startThread();
        } else if (queuedCount.incrementAndGet() == MOST_QUEUED) {
            LockSupport.unpark(thread.get());
        }
    }

    /** Starts the timer thread, when the first timer is scheduled. */
    private void startThread() {
        Thread created = threads.create(this::runTimers);
        if (thread.compareAndSet(null, created)) {
            try {
                created.start();
            } catch (Throwable e) { // no memory for a thread now; the next timer tries again
                thread.set(null);
                throw e;
            }
        }
    }

    private void runTimers() {
        while (!stopped) {
            try {
                runFirstOrPark();
            } catch (Throwable e) { // no memory, or no log that could tell: all other timers need this thread
                LockSupport.parkNanos(this, PARK_AFTER_FAILURE);
            }
        }
    }

    private void runFirstOrPark() {
        sortQueued();
        long now = System.nanoTime();
        Task first = pending.isEmpty() ? null : pending.first();
        if (first != null && first.at - now <= 0) {
            pending.remove(first);
            first.run();
            return;
        }
        parkedUntil = first == null ? now + LONGEST_PARK : first.at;
        if (queued.isEmpty() && !stopped) { // a timer that was queued before the write must be sorted first
            LockSupport.parkNanos(this, parkedUntil - now);
            Thread.interrupted(); // clears the flag, which would make every further park return immediately
        }
    }

    private void sortQueued() {
        queuedCount.set(0);
        for (Task task = queued.peek(); task != null; task = queued.peek()) {
            if (task.hasEnded()) {
                pending.remove(task);
            } else {
                pending.add(task);
            }
            queued.remove(); // only now: without memory to sort it, the timer would be lost
        }
        pendingCount = pending.size();
    }

    /** Returns the approximate number of timers, including cancelled ones that the thread has not removed yet. */
    int size() {
        return pendingCount + queuedCount.get();
    }

    /** Ends the timer thread. Timers that are still scheduled do not run. */
    public void stop() {
        stopped = true;
        LockSupport.unpark(thread.get());
    }

    /** A timer, ordered by the instant at which it is due. */
    private final class Task implements Timer, Comparable<Task> {
        private final long at;
        private final long number;
        private final AtomicReference<@Nullable Runnable> task;

        Task(long at, long number, Runnable task) {
            this.at = at;
            this.number = number;
            this.task = new AtomicReference<>(task);
        }

        boolean hasEnded() {
            return task.get() == null;
        }

        void run() {
            Runnable due = task.getAndSet(null);
            if (due != null) {
                try {
                    due.run();
                } catch (Throwable e) { // the other timers need this thread
                    log.error("event=timer-failed", e);
                }
            }
        }

        @Override
        public void cancel() {
            if (task.getAndSet(null) != null && !stopped) {
                enqueue(this);
            }
        }

        @Override
        public int compareTo(Task other) {
            int byTime = Long.signum(at - other.at); // the difference is correct even if the clock wraps around
            return byTime != 0 ? byTime : Long.compare(number, other.number);
        }
    }
}

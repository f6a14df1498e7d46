// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.runtime;

import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicTime;
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
 * Monotonic clock of the JVM, with one timer thread.
 *
 * <p>Setting and cancelling a timer takes no lock, so both are allowed under a monitor (ADR 0040): a virtual thread that is
 * pinned by a monitor never waits here for one that needs its carrier. Callers leave timers in a lock-free queue; the timer
 * thread alone sorts them. It is woken only for a timer that is due before all others, or to clear the queue.
 */
public final class SystemClock implements LockClock {
    private static final Logger log = LoggerFactory.getLogger(SystemClock.class);

    /** So many timers in the queue wake the thread, so that cancelled ones do not pile up. */
    private static final int MOST_QUEUED = 1_000;

    private static final long LONGEST_PARK = Duration.ofHours(1).toNanos();

    private final Queue<Task> queued = new ConcurrentLinkedQueue<>(); // set or cancelled since the thread last read it
    private final AtomicInteger queuedCount = new AtomicInteger();
    private final TreeSet<Task> pending = new TreeSet<>(); // the timer thread's own
    private final AtomicLong numbers = new AtomicLong();
    private final AtomicReference<@Nullable Thread> thread = new AtomicReference<>();
    private volatile long parkedUntil = System.nanoTime();
    private volatile int kept;
    private volatile boolean stopped;

    @Override
    public MonotonicTime now() {
        return new MonotonicTime(System.nanoTime());
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
        Task scheduled = new Task(System.nanoTime() + Math.max(0, delay.toNanos()), numbers.getAndIncrement(), task);
        if (!stopped) {
            enqueue(scheduled);
            if (scheduled.at - parkedUntil < 0) { // read after it was queued: the thread reads the queue after it wrote
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

    /** When the first timer is set. */
    private void startThread() {
        Thread created = new Thread(this::runTimers, "mortise-timer-1");
        created.setDaemon(true);
        if (thread.compareAndSet(null, created)) {
            created.start();
        }
    }

    private void runTimers() {
        while (!stopped) {
            sortQueued();
            long now = System.nanoTime();
            Task first = pending.isEmpty() ? null : pending.first();
            if (first != null && first.at - now <= 0) {
                pending.remove(first);
                first.run();
                continue;
            }
            parkedUntil = first == null ? now + LONGEST_PARK : first.at;
            if (queued.isEmpty() && !stopped) { // else it came before that could be read
                LockSupport.parkNanos(this, parkedUntil - now);
                Thread.interrupted(); // a flag that somebody set would make each park return at once
            }
        }
    }

    private void sortQueued() {
        queuedCount.set(0);
        for (Task task = queued.poll(); task != null; task = queued.poll()) {
            if (task.hasEnded()) {
                pending.remove(task);
            } else {
                pending.add(task);
            }
        }
        kept = pending.size();
    }

    /** About how many timers it keeps, cancelled ones that the thread has not seen included. */
    int size() {
        return kept + queuedCount.get();
    }

    /** Ends the thread; what is still scheduled does not run. */
    public void stop() {
        stopped = true;
        LockSupport.unpark(thread.get());
    }

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
                } catch (RuntimeException | Error e) {
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
            int byTime = Long.signum(at - other.at); // a difference: the clock may wrap around
            return byTime != 0 ? byTime : Long.compare(number, other.number);
        }
    }
}

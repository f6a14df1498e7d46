// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Runs the tasks of one round, each on a thread of its own. Closing it interrupts those that still run. */
final class WorkerThreads implements AutoCloseable {
    private final String trial;
    private final ConcurrentLinkedQueue<Thread> threads = new ConcurrentLinkedQueue<>();
    private final ExecutorService pool;

    /** @param trial for messages */
    WorkerThreads(String trial, int count) {
        this.trial = trial;
        this.pool = Executors.newFixedThreadPool(count, task -> {
            Thread thread = new Thread(task, "worker-" + (threads.size() + 1));
            thread.setDaemon(true);
            threads.add(thread);
            return thread;
        });
    }

    /** Runs all of them at once, and waits for all. */
    <T> List<T> together(List<Callable<T>> tasks, Duration limit) throws Exception {
        return await(start(tasks), limit);
    }

    <T> List<Future<T>> start(List<Callable<T>> tasks) {
        List<Future<T>> started = new ArrayList<>();
        tasks.forEach(task -> started.add(pool.submit(task)));
        return started;
    }

    /**
     * What each of them returned.
     *
     * @throws IllegalStateException if one did not end in time
     * @throws Exception what the first of them failed with
     */
    <T> List<T> await(List<Future<T>> started, Duration limit) throws Exception {
        long end = System.nanoTime() + limit.toNanos();
        List<T> results = new ArrayList<>();
        for (Future<T> each : started) {
            try {
                results.add(each.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS));
            } catch (TimeoutException e) {
                throw new IllegalStateException(
                        trial + ": a worker still waits for a lock after " + limit.toSeconds() + " s", e);
            } catch (ExecutionException e) {
                throw e.getCause() instanceof Exception cause ? cause : e;
            }
        }
        return results;
    }

    /** Whether all threads wait for something. */
    boolean allWait() {
        return threads.stream()
                .map(Thread::getState)
                .allMatch(state -> state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING);
    }

    @Override
    public void close() {
        pool.shutdownNow();
    }
}

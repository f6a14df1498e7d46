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

/** Runs the tasks of one benchmark round, each on its own thread. Closing interrupts the tasks that are still running. */
final class WorkerThreads implements AutoCloseable {
    private final String round;
    private final ConcurrentLinkedQueue<Thread> threads = new ConcurrentLinkedQueue<>();
    private final ExecutorService pool;

    /**
     * Creates a pool.
     *
     * @param round name of the round, for messages
     * @param count number of threads
     */
    WorkerThreads(String round, int count) {
        this.round = round;
        this.pool = Executors.newFixedThreadPool(count, task -> {
            Thread thread = new Thread(task, "worker-" + (threads.size() + 1));
            thread.setDaemon(true);
            threads.add(thread);
            return thread;
        });
    }

    /** Runs all tasks in parallel, and waits for all of them. */
    <T> List<T> together(List<Callable<T>> tasks, Duration limit) throws Exception {
        return await(start(tasks), limit);
    }

    <T> List<Future<T>> start(List<Callable<T>> tasks) {
        List<Future<T>> started = new ArrayList<>();
        tasks.forEach(task -> started.add(pool.submit(task)));
        return started;
    }

    /**
     * Waits for all tasks and returns their results.
     *
     * @throws IllegalStateException if a task did not end in time
     * @throws Exception the failure of the first task that failed
     */
    <T> List<T> await(List<Future<T>> started, Duration limit) throws Exception {
        long end = System.nanoTime() + limit.toNanos();
        List<T> results = new ArrayList<>();
        for (Future<T> each : started) {
            try {
                results.add(each.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS));
            } catch (TimeoutException e) {
                throw new IllegalStateException(
                        round + ": a worker thread is still waiting for a lock after " + limit.toSeconds() + " s", e);
            } catch (ExecutionException e) {
                throw e.getCause() instanceof Exception cause ? cause : e;
            }
        }
        return results;
    }

    /** Returns whether all threads are waiting, whatever for. */
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

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Runs the demo's worker processes, and collects their messages in one queue for the demo's thread. Not thread-safe, except for
 * {@link #close()}.
 */
final class WorkerProcesses implements AutoCloseable {
    /** Maximum time without any message; longer than any sensible session timeout. */
    private static final Duration MAX_SILENCE = Duration.ofMinutes(2);

    private static final long POLL_MILLIS = 100;

    private final String lockName;
    private final boolean verbose;
    private final Consumer<String> log;
    private final LinkedBlockingQueue<Event> events = new LinkedBlockingQueue<>();
    private final List<WorkerProcess> workers = new ArrayList<>();
    private final List<WorkerProcess> started = new CopyOnWriteArrayList<>(); // for close(), which any thread may call
    private Consumer<Event> onEvent = event -> {};
    private Consumer<Duration> onTick = waited -> {};
    private volatile boolean closed;

    WorkerProcesses(String lockName, boolean verbose, Consumer<String> log) {
        this.lockName = lockName;
        this.verbose = verbose;
        this.log = log;
    }

    /**
     * A message of one worker.
     *
     * @param from the worker
     * @param message the message
     * @param nanos when the message was received, by {@link System#nanoTime()}
     */
    record Event(WorkerProcess from, WorkerMessage message, long nanos) {}

    /**
     * Sets the listeners.
     *
     * @param eachEvent receives every event
     * @param eachTick called several times a second with the duration of the current wait
     */
    void watch(Consumer<Event> eachEvent, Consumer<Duration> eachTick) {
        onEvent = eachEvent;
        onTick = eachTick;
    }

    /** Starts a worker, which is busy until it is ready. */
    WorkerProcess startWorker() {
        String name = "w" + (started.size() + 1);
        WorkerProcess worker = WorkerProcess.start(
                name,
                lockName,
                verbose,
                from -> message -> events.add(new Event(from, message, System.nanoTime())),
                verbose ? log : line -> {});
        workers.add(worker);
        started.add(worker);
        if (closed) {
            worker.close();
        }
        return worker;
    }

    List<WorkerProcess> all() {
        return List.copyOf(workers);
    }

    List<WorkerProcess> except(WorkerProcess one) {
        return workers.stream().filter(worker -> worker != one).toList();
    }

    /** Kills a worker (SIGKILL). */
    void kill(WorkerProcess worker) {
        workers.remove(worker);
        worker.close();
    }

    /**
     * Waits for the next event that matches; events before that only reach the listeners.
     *
     * @param what what is awaited, for the message of a failure
     * @param condition whether an event matches
     * @throws IllegalStateException if a worker fails or ends, or if no worker sends a message for a long time
     */
    Event await(String what, Predicate<Event> condition) throws InterruptedException {
        long start = System.nanoTime();
        long lastReceived = start;
        while (true) {
            Event event = events.poll(POLL_MILLIS, TimeUnit.MILLISECONDS);
            long now = System.nanoTime();
            onTick.accept(Duration.ofNanos(now - start));
            if (event == null) {
                if (now - lastReceived > MAX_SILENCE.toNanos()) {
                    throw new IllegalStateException(
                            "no message from any worker for " + MAX_SILENCE.toSeconds() + " s while waiting for " + what
                                    + "; if --url has a long session timeout, choose a shorter one");
                }
                continue;
            }
            lastReceived = now;
            if (!workers.contains(event.from())) {
                continue; // killed on purpose
            }
            check(event);
            event.from().onMessage(event.message());
            onEvent.accept(event);
            if (condition.test(event)) {
                return event;
            }
        }
    }

    /** Waits until every worker has executed its commands. */
    void awaitIdle(String what) throws InterruptedException {
        while (workers.stream().anyMatch(WorkerProcess::busy)) {
            await(what, event -> !event.from().busy());
        }
    }

    private static void check(Event event) {
        if (event.message() instanceof WorkerMessage.Failed failed) {
            throw new IllegalStateException("worker " + event.from() + " failed: " + failed.text());
        }
        if (event.message() instanceof WorkerMessage.Ended ended) {
            throw new IllegalStateException("worker " + event.from() + " ended: " + ended.lastLines());
        }
    }

    /** Kills all processes. */
    @Override
    public void close() {
        closed = true;
        started.forEach(WorkerProcess::close);
    }
}

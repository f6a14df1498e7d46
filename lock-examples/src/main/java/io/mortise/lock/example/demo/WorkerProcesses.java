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
 * The worker processes and what they say, in one queue that the demo's thread reads. Not thread-safe but for
 * {@link #close()}.
 */
final class WorkerProcesses implements AutoCloseable {
    /** Longer than any sensible session: what takes so long without a word from anybody will not come. */
    private static final Duration SILENCE = Duration.ofMinutes(2);

    private static final long POLL_MILLIS = 100;

    private final String lockName;
    private final boolean verbose;
    private final Consumer<String> log;
    private final LinkedBlockingQueue<Event> events = new LinkedBlockingQueue<>();
    private final List<WorkerProcess> workers = new ArrayList<>();
    private final List<WorkerProcess> everybody = new CopyOnWriteArrayList<>(); // for close(), from any thread
    private Consumer<Event> onEvent = event -> {};
    private Consumer<Duration> onTick = waited -> {};
    private volatile boolean closed;

    WorkerProcesses(String lockName, boolean verbose, Consumer<String> log) {
        this.lockName = lockName;
        this.verbose = verbose;
        this.log = log;
    }

    /** What one worker said and when it was heard, by {@link System#nanoTime()}. */
    record Event(WorkerProcess from, WorkerMessage message, long nanos) {}

    /** Hears every event, and is called some times a second with how long the present wait has been. */
    void watch(Consumer<Event> eachEvent, Consumer<Duration> eachTick) {
        onEvent = eachEvent;
        onTick = eachTick;
    }

    /** Starts a process, which is busy until it is ready. */
    WorkerProcess hire() {
        String name = "w" + (everybody.size() + 1);
        WorkerProcess worker = WorkerProcess.start(
                name,
                lockName,
                verbose,
                from -> message -> events.add(new Event(from, message, System.nanoTime())),
                verbose ? log : line -> {});
        workers.add(worker);
        everybody.add(worker);
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

    /** {@code kill -9}. */
    void kill(WorkerProcess worker) {
        workers.remove(worker);
        worker.close();
    }

    /** The next event that matches; those before it only go to the watcher. */
    Event await(String what, Predicate<Event> wanted) throws InterruptedException {
        long start = System.nanoTime();
        long lastHeard = start;
        while (true) {
            Event event = events.poll(POLL_MILLIS, TimeUnit.MILLISECONDS);
            long now = System.nanoTime();
            onTick.accept(Duration.ofNanos(now - start));
            if (event == null) {
                if (now - lastHeard > SILENCE.toNanos()) {
                    throw new IllegalStateException(
                            "no worker has said anything for " + SILENCE.toSeconds() + " s while waiting for " + what
                                    + "; a long session timeout in --url makes the drills long");
                }
                continue;
            }
            lastHeard = now;
            if (!workers.contains(event.from())) {
                continue; // killed on purpose
            }
            check(event);
            event.from().heard(event.message());
            onEvent.accept(event);
            if (wanted.test(event)) {
                return event;
            }
        }
    }

    /** Returns when every worker has carried out what it was told. */
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
        everybody.forEach(WorkerProcess::close);
    }
}

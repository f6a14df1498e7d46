// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import io.mortise.lock.example.ExamplesMain;
import io.mortise.lock.testkit.process.ChildJvm;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Starts one worker process for the demo, and exchanges messages with it. What it says is handed off by a thread of its
 * own, line by line.
 */
final class WorkerProcess implements AutoCloseable {
    /** The pipe's end comes long before. */
    private static final Duration FOR_EVER = Duration.ofDays(365);

    private static final Map<String, String> QUIET = Map.of(
            "org.slf4j.simpleLogger.defaultLogLevel", "off",
            "org.slf4j.simpleLogger.log.org.apache.zookeeper", "off");
    // Beside the protocol, which the demo tells from the log by its first word.
    private static final Map<String, String> VERBOSE = Map.of(
            "org.slf4j.simpleLogger.defaultLogLevel", "info",
            "org.slf4j.simpleLogger.log.org.apache.zookeeper", "warn",
            "org.slf4j.simpleLogger.logFile", "System.out");

    private final String name;
    private final ChildJvm jvm;
    private boolean busy = true; // until it says that it is ready

    private WorkerProcess(String name, ChildJvm jvm) {
        this.name = name;
        this.jvm = jvm;
    }

    /**
     * Starts the process; it is busy until {@link WorkerMessage.Ready}.
     *
     * @param listener makes the consumer of what this worker says
     * @param log gets the lines of its log
     */
    static WorkerProcess start(
            String name,
            String lockName,
            boolean verbose,
            Function<WorkerProcess, Consumer<WorkerMessage>> listener,
            Consumer<String> log) {
        ChildJvm jvm = ChildJvm.start(ExamplesMain.class, verbose ? VERBOSE : QUIET, List.of("demo-worker", lockName));
        WorkerProcess worker = new WorkerProcess(name, jvm);
        Consumer<WorkerMessage> messages = listener.apply(worker);
        Thread reader = new Thread(() -> worker.read(messages, log), "demo-" + name);
        reader.setDaemon(true);
        reader.start();
        return worker;
    }

    String name() {
        return name;
    }

    long pid() {
        return jvm.pid();
    }

    boolean busy() {
        return busy;
    }

    /** Sends a command; busy until the worker says that it is done. */
    void tell(String command) {
        busy = true;
        try {
            jvm.writeLine(command);
        } catch (UncheckedIOException e) {
            // It has ended: its end is among its messages, with its last lines.
        }
    }

    /** On the demo's own thread, in the order in which it said them. */
    void heard(WorkerMessage message) {
        if (message instanceof WorkerMessage.Ready || message instanceof WorkerMessage.Done) {
            busy = false;
        }
    }

    void pause() {
        jvm.pause();
    }

    void resume() {
        jvm.resume();
    }

    /** {@code kill -9}; it has ended when this returns. */
    @Override
    public void close() {
        jvm.close();
    }

    private void read(Consumer<WorkerMessage> messages, Consumer<String> log) {
        try {
            while (true) {
                String line = jvm.nextLine(FOR_EVER);
                WorkerMessage.parse(line).ifPresentOrElse(messages, () -> log.accept(name + ": " + line));
            }
        } catch (IllegalStateException ended) {
            messages.accept(new WorkerMessage.Ended(String.valueOf(ended.getMessage())));
        }
    }

    @Override
    public String toString() {
        return name + " (pid " + pid() + ")";
    }
}

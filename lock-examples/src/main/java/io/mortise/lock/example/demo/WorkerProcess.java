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
 * A worker process of the demo, with which the demo exchanges commands and messages. A separate thread reads the messages of
 * each worker.
 */
final class WorkerProcess implements AutoCloseable {
    /** Timeout that is never reached, since the pipe ends long before. */
    private static final Duration UNLIMITED = Duration.ofDays(365);

    private static final Map<String, String> QUIET = Map.of(
            "org.slf4j.simpleLogger.defaultLogLevel", "off",
            "org.slf4j.simpleLogger.log.org.apache.zookeeper", "off");
    // The log shares standard output with the messages, which the demo recognizes by their first word.
    private static final Map<String, String> VERBOSE = Map.of(
            "org.slf4j.simpleLogger.defaultLogLevel", "info",
            "org.slf4j.simpleLogger.log.org.apache.zookeeper", "warn",
            "org.slf4j.simpleLogger.logFile", "System.out");

    private final String name;
    private final ChildJvm jvm;
    private boolean busy = true; // until the worker reports that it is ready

    private WorkerProcess(String name, ChildJvm jvm) {
        this.name = name;
        this.jvm = jvm;
    }

    /**
     * Starts the process; it is busy until {@link WorkerMessage.Ready}.
     *
     * @param name name of the worker in the demo's output
     * @param lockName name of the lock
     * @param verbose whether the worker prints its log
     * @param listener creates the consumer of this worker's messages
     * @param log receives the lines of the worker's log
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

    /** Sends a command; the worker is busy until it reports that it is done. */
    void send(String command) {
        busy = true;
        try {
            jvm.writeLine(command);
        } catch (UncheckedIOException e) {
            // The worker has ended, which its last message reports together with its last lines.
        }
    }

    /** Updates the state after a message. Called on the demo's thread, in the order of the messages. */
    void onMessage(WorkerMessage message) {
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

    /** Kills the process (SIGKILL), and waits for its end. */
    @Override
    public void close() {
        jvm.close();
    }

    private void read(Consumer<WorkerMessage> messages, Consumer<String> log) {
        try {
            while (true) {
                String line = jvm.nextLine(UNLIMITED);
                WorkerMessage.parse(line).ifPresentOrElse(messages, () -> log.accept(name + ": " + line));
            }
        } catch (RuntimeException ended) { // the output ended, or a message cannot be parsed
            messages.accept(new WorkerMessage.Ended(String.valueOf(ended.getMessage())));
        }
    }

    @Override
    public String toString() {
        return name + " (pid " + pid() + ")";
    }
}

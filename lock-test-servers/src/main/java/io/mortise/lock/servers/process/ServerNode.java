// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.process;

import io.mortise.lock.testkit.process.GuardedProcess;
import io.mortise.lock.testkit.process.ProcessState;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/** A server process that can be paused, killed and restarted with the same command. Thread-safe. */
public final class ServerNode implements AutoCloseable {
    private static final Duration START_LIMIT = Duration.ofSeconds(30);
    private static final int PORT_ATTEMPTS = 5;
    private static final String PORT_TAKEN = "already in use";

    private final String name;
    private final Path data;
    private final List<String> command;
    private final Consumer<GuardedProcess> untilReady;
    private GuardedProcess process;

    /**
     * Starts the process; returns when it serves.
     *
     * @param name name for messages
     * @param data directory of the process's data
     * @param command command line
     * @param untilReady waits until the process serves
     * @throws IllegalStateException if the process ends before; the message contains its last lines
     */
    public ServerNode(String name, Path data, List<String> command, Consumer<GuardedProcess> untilReady) {
        this.name = name;
        this.data = data;
        this.command = List.copyOf(command);
        this.untilReady = untilReady;
        this.process = spawn();
    }

    /** Returns a wait for a log line that contains a string; a reply on the port could come from another process. */
    public static Consumer<GuardedProcess> saying(String readyLine) {
        return started -> started.awaitLine(line -> line.contains(readyLine), START_LIMIT);
    }

    /** Starts a server on free ports, and again on other ports if another process has taken one of them. */
    public static <T> T onFreePorts(int ports, Function<List<Integer>, T> start) {
        for (int attempt = 1; ; attempt++) {
            try {
                return start.apply(FreePorts.forServers(ports));
            } catch (IllegalStateException e) {
                if (attempt == PORT_ATTEMPTS || !String.valueOf(e.getMessage()).contains(PORT_TAKEN)) {
                    throw e;
                }
            }
        }
    }

    private GuardedProcess spawn() {
        GuardedProcess started = GuardedProcess.start(name, data, command);
        try {
            untilReady.accept(started);
            return started;
        } catch (IllegalStateException e) {
            started.close();
            throw e;
        }
    }

    /** Returns the process id since the last start. */
    public synchronized long pid() {
        return process.pid();
    }

    /** Returns whether the process exists, paused or not. */
    public synchronized boolean isAlive() {
        return process.isAlive();
    }

    /** Returns whether the process is paused. */
    public synchronized boolean isPaused() {
        return process.isAlive() && ProcessState.isStopped(process.pid());
    }

    /** Throws an {@link IllegalStateException} with the last lines of the process if it has ended. */
    public synchronized void requireAlive() {
        if (!process.isAlive()) {
            process.awaitLine(line -> false, START_LIMIT); // throws once all output has been read
        }
    }

    /** Returns the last lines that the process has printed. */
    public synchronized String lastLines() {
        return process.lastLines();
    }

    /** Pauses the process (SIGSTOP). */
    public synchronized void pause() {
        process.pause();
    }

    /** Resumes a paused process. */
    public synchronized void resume() {
        process.resume();
    }

    /** Ends the process gracefully (SIGTERM), paused or not, and waits for its end. */
    public synchronized void stop() {
        process.terminate();
        process.close();
    }

    /** Kills the process (SIGKILL), paused or not, and waits for its end. */
    public synchronized void kill() {
        process.close();
    }

    /** Kills the process if it runs, and starts it again; returns when it serves. */
    public synchronized void restart() {
        process.close();
        process = spawn();
    }

    @Override
    public void close() {
        kill();
    }
}

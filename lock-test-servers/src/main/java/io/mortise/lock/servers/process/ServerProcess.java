// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.process;

import io.mortise.lock.testkit.process.GuardedProcess;
import io.mortise.lock.testkit.process.ProcessState;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/** A server process that can be paused, killed and restarted with the same command. Thread-safe. */
public final class ServerProcess implements ServerNode {
    private static final Duration START_LIMIT = Duration.ofSeconds(30);

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
    public ServerProcess(String name, Path data, List<String> command, Consumer<GuardedProcess> untilReady) {
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

    @Override
    public synchronized long pid() {
        return process.pid();
    }

    @Override
    public synchronized boolean isAlive() {
        return process.isAlive();
    }

    @Override
    public synchronized boolean isPaused() {
        return process.isAlive() && ProcessState.isStopped(process.pid());
    }

    @Override
    public synchronized void requireAlive() {
        if (!process.isAlive()) {
            process.awaitLine(line -> false, START_LIMIT); // throws once all output has been read
        }
    }

    @Override
    public synchronized String lastLines() {
        return process.lastLines();
    }

    @Override
    public synchronized void pause() {
        process.pause();
    }

    @Override
    public synchronized void resume() {
        process.resume();
    }

    @Override
    public synchronized void stop() {
        process.terminate();
        process.close();
    }

    @Override
    public synchronized void kill() {
        process.close();
    }

    @Override
    public synchronized void restart() {
        process.close();
        process = spawn();
    }

    @Override
    public void close() {
        kill();
    }

    @Override
    public synchronized String toString() {
        return "pid=" + process.pid();
    }
}

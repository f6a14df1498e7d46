// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.process;

import io.mortise.lock.testkit.process.GuardedProcess;
import io.mortise.lock.testkit.process.ProcessState;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/** One server process that can be restarted on the same ports. Thread-safe. */
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
     * Starts it; it serves when this returns.
     *
     * @param untilReady waits for that
     * @throws IllegalStateException if it ends instead; it names its last lines
     */
    public ServerNode(String name, Path data, List<String> command, Consumer<GuardedProcess> untilReady) {
        this.name = name;
        this.data = data;
        this.command = List.copyOf(command);
        this.untilReady = untilReady;
        this.process = spawn();
    }

    /** Ready when a line of its log contains that: a reply on the port could be somebody else's. */
    public static Consumer<GuardedProcess> saying(String readyLine) {
        return started -> started.awaitLine(line -> line.contains(readyLine), START_LIMIT);
    }

    /** Starts something on free ports, and again on others if somebody else was faster. */
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

    public synchronized long pid() {
        return process.pid();
    }

    public synchronized boolean isAlive() {
        return process.isAlive();
    }

    /** Whether its process is stopped. */
    public synchronized boolean isPaused() {
        return process.isAlive() && ProcessState.isStopped(process.pid());
    }

    /** Throws {@link IllegalStateException} with its last lines if it has ended. */
    public synchronized void requireAlive() {
        if (!process.isAlive()) {
            process.awaitLine(line -> false, START_LIMIT); // until what it said has been read
        }
    }

    public synchronized String lastLines() {
        return process.lastLines();
    }

    public synchronized void pause() {
        process.pause();
    }

    public synchronized void resume() {
        process.resume();
    }

    public synchronized void stop() {
        process.terminate();
        process.close();
    }

    public synchronized void kill() {
        process.close();
    }

    public synchronized void restart() {
        process.close();
        process = spawn();
    }

    @Override
    public void close() {
        kill();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.servers;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;

/** One Redis server or sentinel from life to life: always the same command line, and so the same port. Thread-safe. */
final class RedisNode implements AutoCloseable {
    private static final Duration START_LIMIT = Duration.ofSeconds(30);
    private static final int PORT_ATTEMPTS = 5;
    private static final String PORT_TAKEN = "already in use";

    private final String name;
    private final Path data;
    private final List<String> command;
    private final String readyLine;
    private GuardedProcess process;

    /**
     * Starts it; it serves when this returns.
     *
     * @param readyLine is part of the line of its log that says so
     * @throws IllegalStateException if it ends instead; it names its last lines
     */
    RedisNode(String name, Path data, List<String> command, String readyLine) {
        this.name = name;
        this.data = data;
        this.command = List.copyOf(command);
        this.readyLine = readyLine;
        this.process = spawn();
    }

    /** Starts something on free ports, and again on others if somebody else was faster. */
    static <T> T onFreePorts(int ports, Function<List<Integer>, T> start) {
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
            // Its log, not a reply on the port: that could be somebody else's.
            started.awaitLine(line -> line.contains(readyLine), START_LIMIT);
            return started;
        } catch (IllegalStateException e) {
            started.close();
            throw e;
        }
    }

    synchronized long pid() {
        return process.pid();
    }

    synchronized boolean isAlive() {
        return process.isAlive();
    }

    synchronized String lastLines() {
        return process.lastLines();
    }

    synchronized void pause() {
        process.pause();
    }

    synchronized void resume() {
        process.resume();
    }

    synchronized void stop() {
        process.terminate();
        process.close();
    }

    synchronized void kill() {
        process.close();
    }

    synchronized void restart() {
        process.close();
        process = spawn();
    }

    @Override
    public void close() {
        kill();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.process;

import java.util.List;
import java.util.function.Function;

/** A server that can be paused, killed and restarted, as a process or in a container. Thread-safe. */
public sealed interface ServerNode extends AutoCloseable permits ServerProcess, ServerContainer {
    /** Starts a server on free ports, and again on other ports if another process has taken one of them. */
    static <T> T onFreePorts(int ports, Function<List<Integer>, T> start) {
        int attempts = 5;
        for (int attempt = 1; ; attempt++) {
            try {
                return start.apply(FreePorts.forServers(ports));
            } catch (IllegalStateException e) {
                if (attempt == attempts || !String.valueOf(e.getMessage()).contains("already in use")) {
                    throw e;
                }
            }
        }
    }

    /**
     * Returns the process id since the last start.
     *
     * @throws UnsupportedOperationException if the server runs in a container, whose processes belong to another system
     */
    long pid();

    /** Returns whether the server's process exists, paused or not. */
    boolean isAlive();

    /** Returns whether the server is paused. */
    boolean isPaused();

    /** Throws an {@link IllegalStateException} with the server's last lines if it has ended. */
    void requireAlive();

    /** Returns the last lines that the server has printed. */
    String lastLines();

    /**
     * Pauses the server; its connections stay open.
     *
     * @throws UnsupportedOperationException if the container engine cannot pause containers here
     */
    void pause();

    /** Resumes a paused server. */
    void resume();

    /** Ends the server gracefully (SIGTERM), paused or not, and waits for its end. */
    void stop();

    /** Kills the server (SIGKILL), paused or not, and waits for its end. */
    void kill();

    /** Kills the server if it runs, and starts it again; returns when it serves. */
    void restart();

    /** Kills the server. Idempotent. */
    @Override
    void close();
}

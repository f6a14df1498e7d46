// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.zookeeper;

import io.mortise.lock.servers.process.TempDir;
import io.mortise.lock.testkit.process.ChildJvm;
import java.time.Duration;
import java.util.Map;

/**
 * A real ZooKeeper server for tests, which runs in a child JVM and can be paused and killed. It ends with this JVM, even if
 * this JVM is killed. Thread-safe.
 */
public final class ZooKeeperTestProcess implements AutoCloseable {
    private static final Duration START_LIMIT = Duration.ofSeconds(60);

    private final ZooKeeperServerOptions options;
    private final TempDir dir = TempDir.create("zookeeper-process");
    private final int port;
    private ChildJvm child;

    private ZooKeeperTestProcess(ZooKeeperServerOptions options) {
        this.options = options;
        this.child = spawn(0);
        this.port = awaitPort(child);
    }

    /** Starts a server with {@link ZooKeeperServerOptions#defaults()}; returns when it serves. */
    public static ZooKeeperTestProcess start() {
        return start(ZooKeeperServerOptions.defaults());
    }

    /** Starts a server; returns when it serves. */
    public static ZooKeeperTestProcess start(ZooKeeperServerOptions options) {
        return new ZooKeeperTestProcess(options);
    }

    /** Returns the address {@code 127.0.0.1:port}; a restart does not change it. */
    public String connectString() {
        return "127.0.0.1:" + port;
    }

    /** Returns the port for clients; a restart does not change it. */
    public int port() {
        return port;
    }

    /** Returns the process id since the last start. */
    public synchronized long pid() {
        return child.pid();
    }

    /** Pauses the server (SIGSTOP); its connections stay open. */
    public synchronized void pause() {
        child.pause();
    }

    /** Resumes a paused server. */
    public synchronized void resume() {
        child.resume();
    }

    /** Kills the server (SIGKILL), paused or not, and waits for its end; its data is kept. */
    public synchronized void kill() {
        child.close();
    }

    /** Kills the server if it runs, and starts it again on the same port with its data; returns when it serves. */
    public synchronized void restart() {
        kill();
        child = spawn(port);
        awaitPort(child);
    }

    /** Kills the server and deletes its data. Idempotent. */
    @Override
    public synchronized void close() {
        try (dir) {
            kill();
        }
    }

    private ChildJvm spawn(int onPort) {
        return ChildJvm.start(
                ZooKeeperProcessMain.class,
                ZooKeeperChildJvmProperties.with(Map.of()),
                ZooKeeperProcessMain.args(dir.path(), onPort, options));
    }

    private int awaitPort(ChildJvm starting) {
        try {
            String line = starting.awaitLine(any -> any.startsWith(ZooKeeperProcessMain.READY), START_LIMIT);
            return Integer.parseInt(line.substring(ZooKeeperProcessMain.READY.length()));
        } catch (IllegalStateException e) {
            close();
            throw e;
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.zookeeper;

import io.mortise.lock.servers.process.TempDir;
import io.mortise.lock.testkit.process.ChildJvm;
import java.time.Duration;
import java.util.Map;

/**
 * A real ZooKeeper server in a child JVM, which can be paused and killed. It ends with this JVM, however that ends.
 * Thread-safe.
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

    /** Starts a server with {@link ZooKeeperServerOptions#defaults()}; it serves when this returns. */
    public static ZooKeeperTestProcess start() {
        return start(ZooKeeperServerOptions.defaults());
    }

    /** Starts a server; it serves when this returns. */
    public static ZooKeeperTestProcess start(ZooKeeperServerOptions options) {
        return new ZooKeeperTestProcess(options);
    }

    /** {@code 127.0.0.1:port}; the same after a restart. */
    public String connectString() {
        return "127.0.0.1:" + port;
    }

    /** The client port; the same after a restart. */
    public int port() {
        return port;
    }

    /** The process id of the server's present life. */
    public synchronized long pid() {
        return child.pid();
    }

    /** Stops the server in its tracks; its connections stay open. */
    public synchronized void pause() {
        child.pause();
    }

    /** Lets a paused server go on. */
    public synchronized void resume() {
        child.resume();
    }

    /** Kills the server without warning, paused or not; it has ended when this returns. Its data stays. */
    public synchronized void kill() {
        child.close();
    }

    /** Kills the server if it runs, and starts it again on the same port with its data; it serves when this returns. */
    public synchronized void restart() {
        kill();
        child = spawn(port);
        awaitPort(child);
    }

    /** Kills the server and deletes its data; idempotent. */
    @Override
    public synchronized void close() {
        try (dir) {
            kill();
        }
    }

    private ChildJvm spawn(int onPort) {
        return ChildJvm.start(
                ZooKeeperProcessMain.class,
                ZooKeeperSystemProperties.with(Map.of()),
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

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.zookeeper;

import io.mortise.lock.testkit.process.Await;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.LongAdder;
import org.apache.zookeeper.server.ContainerManager;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/** One run of a ZooKeeper server in this JVM, from its start to its stop. */
final class RunningZooKeeper implements AutoCloseable {
    private static final Duration START_LIMIT = Duration.ofSeconds(30);

    private final CountingZooKeeperServer server;
    private final ServerCnxnFactory connections;
    private final ContainerManager containers;

    private RunningZooKeeper(
            CountingZooKeeperServer server, ServerCnxnFactory connections, ContainerManager containers) {
        this.server = server;
        this.connections = connections;
        this.containers = containers;
    }

    /** Starts on 127.0.0.1; port 0 takes a free one. Returns when the server serves. */
    static RunningZooKeeper start(
            Path dir, int port, ZooKeeperServerOptions options, ConcurrentMap<String, LongAdder> requests)
            throws IOException {
        CountingZooKeeperServer server =
                new CountingZooKeeperServer(dir, Math.toIntExact(options.tick().toMillis()), requests);
        server.setMinSessionTimeout(Math.toIntExact(options.minSession().toMillis()));
        server.setMaxSessionTimeout(Math.toIntExact(options.maxSession().toMillis()));
        ServerCnxnFactory connections = new NIOServerCnxnFactory();
        try {
            // 0: any number of connections from this one address.
            connections.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
            connections.startup(server);
            Await.until("ZooKeeper serves", START_LIMIT, server::isRunning);
        } catch (InterruptedException e) {
            connections.shutdown();
            Thread.currentThread().interrupt();
            throw new IOException("Interrupted while starting ZooKeeper", e);
        } catch (IOException | RuntimeException e) {
            connections.shutdown();
            throw e;
        }
        ContainerManager containers = server.newContainerManager(
                Math.toIntExact(options.containerCheck().toMillis()));
        containers.start();
        return new RunningZooKeeper(server, connections, containers);
    }

    int port() {
        return connections.getLocalPort();
    }

    ZooKeeperServer server() {
        return server;
    }

    /** Stops serving and closes the files; sessions and ephemerals stay in the data. */
    @Override
    public void close() throws IOException {
        containers.stop();
        connections.shutdown();
        server.getZKDatabase().close();
    }
}

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

/** A ZooKeeper server that is running in this JVM, from its start until it is closed. */
final class EmbeddedZooKeeper implements AutoCloseable {
    private static final Duration START_LIMIT = Duration.ofSeconds(30);

    private final CountingZooKeeperServer server;
    private final ServerCnxnFactory connections;
    private final ContainerManager containers;

    private EmbeddedZooKeeper(
            CountingZooKeeperServer server, ServerCnxnFactory connections, ContainerManager containers) {
        this.server = server;
        this.connections = connections;
        this.containers = containers;
    }

    /** Starts a server on a port of 127.0.0.1, or on a free one if the port is 0; returns when it serves. */
    static EmbeddedZooKeeper start(
            Path dir, int port, ZooKeeperServerOptions options, ConcurrentMap<String, LongAdder> requests)
            throws IOException {
        CountingZooKeeperServer server =
                new CountingZooKeeperServer(dir, Math.toIntExact(options.tick().toMillis()), requests);
        server.setMinSessionTimeout(Math.toIntExact(options.minSession().toMillis()));
        server.setMaxSessionTimeout(Math.toIntExact(options.maxSession().toMillis()));
        ServerCnxnFactory connections = new NIOServerCnxnFactory();
        try {
            // 0 means no limit on connections from one address.
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
        return new EmbeddedZooKeeper(server, connections, containers);
    }

    int port() {
        return connections.getLocalPort();
    }

    ZooKeeperServer server() {
        return server;
    }

    /** Stops the server and closes its files; sessions and ephemeral nodes stay in the data. */
    @Override
    public void close() throws IOException {
        containers.stop();
        connections.shutdown();
        server.getZKDatabase().close();
    }
}

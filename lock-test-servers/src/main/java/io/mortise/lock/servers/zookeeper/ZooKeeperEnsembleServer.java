// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.zookeeper;

import io.mortise.lock.testkit.process.ChildJvm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** One server of a ZooKeeper ensemble, with its configuration file and its current child JVM. Thread-safe. */
final class ZooKeeperEnsembleServer implements AutoCloseable {
    private final Path root;
    private final Path config;
    private final int clientPort;
    private ChildJvm child;

    /**
     * Writes the configuration and starts the child JVM, without waiting for it.
     *
     * @param root directory of the ensemble
     * @param node number of the server, from 0
     * @param clientPort port for clients
     * @param settings configuration lines that all servers share
     * @param servers {@code server.N=} lines with the addresses at which this server reaches the others
     */
    ZooKeeperEnsembleServer(Path root, int node, int clientPort, String settings, List<String> servers) {
        this.root = root;
        this.clientPort = clientPort;
        try {
            Path dir = Files.createDirectories(root.resolve("node" + node));
            Path data = Files.createDirectories(dir.resolve("data"));
            Files.writeString(data.resolve("myid"), Integer.toString(node + 1));
            // In the properties syntax a backslash in a path would be an escape.
            String dataDir = data.toString().replace('\\', '/');
            this.config = Files.writeString(
                    dir.resolve("zoo.cfg"),
                    settings + "dataDir=" + dataDir + "\nclientPort=" + clientPort + "\n" + String.join("\n", servers)
                            + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        this.child = spawn(root, config);
    }

    private static ChildJvm spawn(Path root, Path config) {
        // Otherwise, a server that was cut off for long would wait up to a minute before it requests votes again.
        Map<String, String> properties =
                ZooKeeperChildJvmProperties.with(Map.of("zookeeper.fastleader.maxNotificationInterval", "1000"));
        return ChildJvm.start(
                ZooKeeperEnsembleServerMain.class, properties, List.of(root.toString(), config.toString()));
    }

    int clientPort() {
        return clientPort;
    }

    /** Returns {@code "leader"}, {@code "follower"}, or {@code "none"} while the server does not serve or does not reply. */
    String mode() {
        return ZooKeeperRoleProbe.mode(clientPort);
    }

    synchronized ChildJvm child() {
        return child;
    }

    synchronized void restart() {
        child.close();
        child = spawn(root, config);
    }

    @Override
    public synchronized void close() {
        child.close();
    }
}

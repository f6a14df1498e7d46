// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.zookeeper;

import io.mortise.lock.testkit.process.ChildJvm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** One node of an ensemble: its configuration and its present child JVM. Thread-safe. */
final class ZooKeeperEnsembleServer implements AutoCloseable {
    private final Path root;
    private final Path config;
    private final int clientPort;
    private ChildJvm child;

    /**
     * @param settings lines of the configuration that all nodes share
     * @param servers {@code server.N=} lines as this node sees the others
     */
    ZooKeeperEnsembleServer(Path root, int node, int clientPort, String settings, List<String> servers) {
        this.root = root;
        this.clientPort = clientPort;
        try {
            Path dir = Files.createDirectories(root.resolve("node" + node));
            Path data = Files.createDirectories(dir.resolve("data"));
            Files.writeString(data.resolve("myid"), Integer.toString(node + 1));
            // Properties syntax: a backslash in a path would be an escape.
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
        // A node that was cut off for long would otherwise wait up to a minute until it asks for votes again.
        Map<String, String> properties =
                ZooKeeperSystemProperties.with(Map.of("zookeeper.fastleader.maxNotificationInterval", "1000"));
        return ChildJvm.start(
                ZooKeeperEnsembleServerMain.class, properties, List.of(root.toString(), config.toString()));
    }

    int clientPort() {
        return clientPort;
    }

    /** {@code "leader"}, {@code "follower"}, or {@code "none"} while it serves no one or does not answer. */
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

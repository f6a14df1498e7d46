// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.zookeeper.ZooKeeper;

/** Starts, in this JVM, the ZooKeeper server that is used to compare the lock libraries. */
final class ZooKeeperPeerTestServer implements PeerTestServers {
    private static final int SESSION_MILLIS = 30_000;
    private static final int SEQUENCE_DIGITS = 10;

    private final ZooKeeperTestServer server = ZooKeeperTestServer.start();

    @Override
    public List<String> addresses() {
        return List.of(server.connectString());
    }

    /** Deletes the node with the lowest sequence number, which every recipe here considers the holder. */
    @Override
    public void deleteGrant(String entry) {
        try (ZooKeeper operator = new ZooKeeper(server.connectString(), SESSION_MILLIS, event -> {})) {
            String holder = operator.getChildren(entry, false).stream()
                    .min(Comparator.comparing(node -> node.substring(node.length() - SEQUENCE_DIGITS)))
                    .orElseThrow();
            operator.delete(entry + "/" + holder, -1);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public Set<String> sessions() {
        return server.sessions().stream().map(String::valueOf).collect(Collectors.toSet());
    }

    @Override
    public void expire(long session) {
        server.expireSession(session);
    }

    @Override
    public void stop() {
        server.stop();
    }

    @Override
    public void restart() {
        server.restart();
    }

    @Override
    public boolean isServerThread(Thread thread) {
        String name = thread.getName();
        return !name.contains("-SendThread") && !name.contains("-EventThread") && !name.contains("Curator");
    }

    @Override
    public void close() {
        server.close();
    }
}

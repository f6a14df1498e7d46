// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import java.util.List;
import java.util.Set;

/** The servers on which a lock library is tested, with the faults that can be injected into them. */
interface PeerTestServers extends AutoCloseable {
    /** Returns {@code host:port} of each server; a restart does not change it. */
    List<String> addresses();

    /** Deletes the holder's entry with the store's own tools. See {@link Peer#entry}. */
    void deleteGrant(String entry);

    /** Returns the ids of all sessions of clients; none if the store has no sessions. */
    default Set<String> sessions() {
        return Set.of();
    }

    /**
     * Ends a session or a lease, as its expiry would.
     *
     * @throws UnsupportedOperationException if the store has neither
     */
    default void expire(long session) {
        throw new UnsupportedOperationException("the store has no sessions");
    }

    /** Stops all servers; they keep their data. */
    void stop();

    /** Starts the servers again; returns when they serve. */
    void restart();

    /** Returns whether the store runs threads in this JVM of which this is one. */
    default boolean isServerThread(Thread thread) {
        return false;
    }

    @Override
    void close();

    /** Starts the servers. */
    static PeerTestServers start(StoreKind kind) {
        return switch (kind) {
            case ZOOKEEPER -> new ZooKeeperPeerTestServer();
            case REDIS -> new RedisPeerTestServers(1);
            case REDIS_MASTERS -> new RedisPeerTestServers(3);
            case ETCD -> new EtcdPeerTestServer();
            case H2 -> new H2PeerTestServer();
        };
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.connect;

import io.lettuce.core.StatefulRedisConnectionImpl;
import io.lettuce.core.api.StatefulConnection;
import io.mortise.lock.BackendRefusedException;
import java.util.Optional;

/**
 * Checks that a new connection leads to the kind of server that the URL's scheme names: a single server, a node of a cluster, or
 * a sentinel. The server tells its mode in its reply to {@code HELLO}, which Lettuce sends in any case.
 */
public final class ServerModeCheck {
    private static final String CLUSTER = "cluster";
    private static final String SENTINEL = "sentinel";

    private ServerModeCheck() {}

    /**
     * Checks a connection for locks.
     *
     * @param inCluster whether the client is configured for a cluster
     * @throws BackendRefusedException if the server can keep none of this client's locks
     */
    public static void requireLockServer(StatefulConnection<?, ?> connection, boolean inCluster, String endpoints) {
        Optional<String> mode = mode(connection);
        if (mode.filter(SENTINEL::equals).isPresent()) {
            throw new BackendRefusedException(
                    "use redis-sentinel://HOST:PORT?master=NAME or the port of a Redis server, since"
                            + " this server is a sentinel, which keeps no locks: " + endpoints);
        }
        if (!inCluster && mode.filter(CLUSTER::equals).isPresent()) {
            throw new BackendRefusedException(
                    "use redis-cluster://HOST:PORT, since this server is a node of a Redis Cluster, which"
                            + " keeps only some of the locks: " + endpoints);
        }
    }

    /**
     * Checks a connection for queries to a sentinel.
     *
     * @throws BackendRefusedException if the server says that it is no sentinel
     */
    public static void requireSentinel(StatefulConnection<?, ?> connection, String endpoint) {
        Optional<String> mode = mode(connection);
        if (mode.isPresent() && !mode.get().equals(SENTINEL)) {
            throw new BackendRefusedException(
                    endpoint + " is a Redis server and not a sentinel: name the port of a sentinel,"
                            + " by default 26379, or use " + (mode.get().equals(CLUSTER) ? "redis-cluster" : "redis")
                            + "://HOST:PORT");
        }
    }

    /** Returns the mode that the server told; empty if it told none, as a proxy may. */
    private static Optional<String> mode(StatefulConnection<?, ?> connection) {
        return connection instanceof StatefulRedisConnectionImpl<?, ?> opened
                ? Optional.ofNullable(opened.getConnectionState().getMode())
                : Optional.empty();
    }
}

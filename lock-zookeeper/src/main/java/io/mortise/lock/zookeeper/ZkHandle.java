// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import io.mortise.lock.BackendUnavailableException;
import java.io.IOException;
import java.time.Duration;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ZKConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens and closes the handles that Mortise owns. */
final class ZkHandle {
    private static final Logger log = LoggerFactory.getLogger(ZkHandle.class);

    private ZkHandle() {}

    /** Bytes of one answer that a handle of our own accepts: the children of a node come in one, 1 MiB by default. */
    private static final int MOST_BYTES = 64 << 20;

    /** Bytes that a child takes in a list of children, with a margin over usual names. */
    private static final int BYTES_A_CHILD = 256;

    static ZooKeeper open(ZooKeeperOptions options, Duration requestTimeout, Watcher watcher) {
        ZKClientConfig config = options.clientConfig().orElseGet(() -> {
            ZKClientConfig own = new ZKClientConfig();
            // Infinite by default; it bounds close(), the only call here that blocks.
            own.setProperty(ZKClientConfig.ZOOKEEPER_REQUEST_TIMEOUT, Long.toString(requestTimeout.toMillis()));
            if (own.getProperty(ZKConfig.JUTE_MAXBUFFER) == null) {
                own.setProperty(ZKConfig.JUTE_MAXBUFFER, Integer.toString(MOST_BYTES));
            }
            return own;
        });
        String servers = options.connectString().orElseThrow();
        int timeout = Math.toIntExact(options.sessionTimeout().toMillis());
        try {
            // A read-only server cannot grant a lock: never connect to one.
            ZooKeeper handle = new ZooKeeper(servers, timeout, watcher, false, new SameServers(servers), config);
            options.authInfos().forEach(info -> info.addTo(handle));
            return handle;
        } catch (IOException e) {
            throw new BackendUnavailableException("no connection to " + servers + ": " + e.getMessage(), e);
        }
    }

    /** Drops the connection of a handle of our own, so that it looks for another server, in up to a second. */
    static void leaveServer(ZooKeeper handle, ZooKeeperOptions options) {
        try {
            handle.updateServerList(options.connectString().orElseThrow());
        } catch (IOException e) {
            log.info("event=server-not-left cause=\"{}\"", e.toString());
        }
    }

    /** So many children can be listed over this handle: a longer answer would cost it its connection. */
    static int mostChildren(ZooKeeper handle) {
        int bytes = handle.getClientConfig()
                .getInt(ZKConfig.JUTE_MAXBUFFER, ZKClientConfig.CLIENT_MAX_PACKET_LENGTH_DEFAULT);
        return bytes / BYTES_A_CHILD;
    }

    /** Blocks until the server has answered or the request timeout is over. */
    static void close(ZooKeeper handle) {
        try {
            handle.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            log.info("event=handle-close-failed", e);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import io.mortise.lock.BackendUnavailableException;
import java.io.IOException;
import java.time.Duration;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens and closes the handles that Mortise owns. */
final class ZkHandle {
    private static final Logger log = LoggerFactory.getLogger(ZkHandle.class);

    private ZkHandle() {}

    static ZooKeeper open(ZooKeeperOptions options, Duration requestTimeout, Watcher watcher) {
        ZKClientConfig config = options.clientConfig().orElseGet(() -> {
            ZKClientConfig own = new ZKClientConfig();
            // Infinite by default; it bounds close(), the only call here that blocks.
            own.setProperty(ZKClientConfig.ZOOKEEPER_REQUEST_TIMEOUT, Long.toString(requestTimeout.toMillis()));
            return own;
        });
        String servers = options.connectString().orElseThrow();
        int timeout = Math.toIntExact(options.sessionTimeout().toMillis());
        try {
            // A read-only server cannot grant a lock: never connect to one.
            ZooKeeper handle = new ZooKeeper(servers, timeout, watcher, false, config);
            options.authInfos().forEach(info -> info.addTo(handle));
            return handle;
        } catch (IOException e) {
            throw new BackendUnavailableException("no connection to " + servers + ": " + e.getMessage(), e);
        }
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

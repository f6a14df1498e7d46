// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import io.mortise.lock.BackendUnavailableException;
import java.io.IOException;
import java.time.Duration;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ZKConfig;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens, reconnects and closes the ZooKeeper handles that Mortise itself creates. */
public final class ZooKeeperHandles {
    private static final Logger log = LoggerFactory.getLogger(ZooKeeperHandles.class);

    private ZooKeeperHandles() {}

    /**
     * The largest response that a managed handle accepts. All children of a node are listed in one response. ZooKeeper's
     * default is 1 MiB.
     */
    private static final int MAX_RESPONSE_BYTES = 64 << 20;

    /** The size of one entry in a list of children, with a margin over the length of usual names. */
    private static final int BYTES_PER_CHILD = 256;

    /** The properties that were given, and values for two that were not. The given object may serve other handles too. */
    private static final class ConfigWithDefaults extends ZKClientConfig {
        private final ZKClientConfig given;

        ConfigWithDefaults(ZKClientConfig given, Duration requestTimeout) {
            this.given = given;
            // Unlimited by default. The timeout bounds close(), the only blocking call.
            setProperty(ZOOKEEPER_REQUEST_TIMEOUT, Long.toString(requestTimeout.toMillis()));
            setProperty(JUTE_MAXBUFFER, Integer.toString(MAX_RESPONSE_BYTES));
        }

        @Override
        public @Nullable String getProperty(String key) {
            String value = given.getProperty(key);
            return value != null ? value : super.getProperty(key);
        }

        @Override
        public String getProperty(String key, String defaultValue) {
            String value = getProperty(key);
            return value != null ? value : defaultValue;
        }
    }

    /** Opens a handle that connects in the background. */
    static ZooKeeper open(ZooKeeperSettings settings, Duration requestTimeout, Watcher watcher) {
        ZKClientConfig config = new ConfigWithDefaults(settings.clientConfigOrDefault(), requestTimeout);
        String servers = settings.connectString().orElseThrow();
        int timeout = Math.toIntExact(settings.sessionTimeout().toMillis());
        try {
            // canBeReadOnly is false: a read-only server cannot grant a lock
            ZooKeeper handle =
                    new ZooKeeper(servers, timeout, watcher, false, new ForcedReconnectHostProvider(servers), config);
            settings.authInfos().forEach(info -> info.addTo(handle));
            return handle;
        } catch (IOException e) {
            throw new BackendUnavailableException("no connection to " + servers + ": " + e.getMessage(), e);
        }
    }

    /** Drops the connection of a managed handle, so that the handle connects to another server within about a second. */
    static void switchServer(ZooKeeper handle, ZooKeeperSettings settings) {
        try {
            handle.updateServerList(settings.connectString().orElseThrow());
        } catch (IOException e) {
            log.info("event=server-switch-failed cause=\"{}\"", e.toString());
        }
    }

    /**
     * Returns the number of children that this handle can list. A longer response would make the handle lose its connection.
     */
    public static int maxChildren(ZooKeeper handle) {
        int bytes = handle.getClientConfig()
                .getInt(ZKConfig.JUTE_MAXBUFFER, ZKClientConfig.CLIENT_MAX_PACKET_LENGTH_DEFAULT);
        return bytes / BYTES_PER_CHILD;
    }

    /** Closes a handle. Blocks until the server has replied or the request timeout has passed. */
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

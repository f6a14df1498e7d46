// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.BackendClients;
import java.util.Objects;

/**
 * Opens lock clients for ZooKeeper that are configured in code instead of by a URL.
 *
 * <p>Use this class to set ACLs, TLS or SASL in code, or to use a {@code ZooKeeper} handle that the application already has.
 */
public final class ZooKeeperLocks {
    private ZooKeeperLocks() {}

    /** Opens a client with {@link ClientOptions#defaults()}. */
    public static LockClient connect(ZooKeeperOptions zooKeeper) {
        return connect(zooKeeper, ClientOptions.defaults());
    }

    /**
     * Opens a client and waits until it has a session. Throws the same exceptions as {@link
     * io.mortise.lock.connect.Locks#connect}.
     */
    public static LockClient connect(ZooKeeperOptions zooKeeper, ClientOptions options) {
        Objects.requireNonNull(zooKeeper, "zooKeeper");
        return BackendClients.open(context -> ZooKeeperBackend.open(zooKeeper, context), options);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.spi.LockClients;
import java.util.Objects;

/** The typed way in: for ACLs, TLS, SASL, or a {@code ZooKeeper} handle that the application already owns. */
public final class ZooKeeperLocks {
    private ZooKeeperLocks() {}

    /** As {@link #connect(ZooKeeperOptions, ClientOptions)} with {@link ClientOptions#defaults()}. */
    public static LockClient connect(ZooKeeperOptions zooKeeper) {
        return connect(zooKeeper, ClientOptions.defaults());
    }

    /**
     * Opens a client and waits for first contact, as {@link io.mortise.lock.Locks#connect} does and with its errors.
     */
    public static LockClient connect(ZooKeeperOptions zooKeeper, ClientOptions options) {
        Objects.requireNonNull(zooKeeper, "zooKeeper");
        return LockClients.over(context -> ZkBackend.open(zooKeeper, context), options);
    }
}

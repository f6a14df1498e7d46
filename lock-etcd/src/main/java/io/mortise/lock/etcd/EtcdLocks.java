// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.BackendClients;
import java.util.Objects;

/** Opens etcd lock clients programmatically, with a custom TLS configuration or an existing jetcd {@code Client}. */
public final class EtcdLocks {
    private EtcdLocks() {}

    /** Opens a client as {@link #connect(EtcdOptions, ClientOptions)} does, with {@link ClientOptions#defaults()}. */
    public static LockClient connect(EtcdOptions etcd) {
        return connect(etcd, ClientOptions.defaults());
    }

    /**
     * Opens a client and waits for the first response, with the same errors as {@link
     * io.mortise.lock.connect.Locks#connect}.
     */
    public static LockClient connect(EtcdOptions etcd, ClientOptions options) {
        Objects.requireNonNull(etcd, "etcd");
        return BackendClients.open(context -> EtcdBackend.open(etcd, context), options);
    }

    /**
     * Returns the condition that lets the store reject the application's own writes once the lease has ended.
     *
     * @throws IllegalArgumentException if the lease does not belong to a lock on etcd
     */
    public static EtcdFencingCondition fencingCondition(Lease lease) {
        Objects.requireNonNull(lease, "lease");
        return lease.unwrap(EtcdFencingCondition.class)
                .orElseThrow(() -> new IllegalArgumentException(lease + " does not belong to a lock on etcd"));
    }
}

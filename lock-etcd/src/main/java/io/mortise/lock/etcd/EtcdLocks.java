// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.BackendClients;
import java.util.Objects;

/** Programmatic configuration of etcd: TLS of your own, or a jetcd {@code Client} that the application already has. */
public final class EtcdLocks {
    private EtcdLocks() {}

    /** As {@link #connect(EtcdOptions, ClientOptions)} with {@link ClientOptions#defaults()}. */
    public static LockClient connect(EtcdOptions etcd) {
        return connect(etcd, ClientOptions.defaults());
    }

    /**
     * Opens a client and waits for the first response, as {@link io.mortise.lock.connect.Locks#connect} does and with its errors.
     */
    public static LockClient connect(EtcdOptions etcd, ClientOptions options) {
        Objects.requireNonNull(etcd, "etcd");
        return BackendClients.over(context -> EtcdBackend.open(etcd, context), options);
    }

    /**
     * For the application's own writes under a lease, which the store refuses once the lease has ended.
     *
     * @throws IllegalArgumentException if the lease is not of a lock on etcd
     */
    public static EtcdFencingCondition guard(Lease lease) {
        Objects.requireNonNull(lease, "lease");
        return lease.unwrap(EtcdFencingCondition.class)
                .orElseThrow(() -> new IllegalArgumentException(lease + " is not of a lock on etcd"));
    }
}

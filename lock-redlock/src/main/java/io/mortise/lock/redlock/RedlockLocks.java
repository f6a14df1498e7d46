// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.BackendClients;
import java.util.Objects;

/** Programmatic configuration of a Redlock client: one URI for each master, or clients that the application already has. */
public final class RedlockLocks {
    private RedlockLocks() {}

    /** Opens a client as {@link #connect(RedlockOptions, ClientOptions)} does with {@link ClientOptions#defaults()}. */
    public static LockClient connect(RedlockOptions masters) {
        return connect(masters, ClientOptions.defaults());
    }

    /**
     * Opens a client and waits until a majority of the masters votes. It fails as {@link io.mortise.lock.connect.Locks#connect} does.
     *
     * <p>Masters that are new, were restarted or have lost their data stay in quarantine for {@link RedlockOptions#maxLease}. If
     * nothing else is missing, this method waits for them beyond the connect timeout, and logs that once.
     */
    public static LockClient connect(RedlockOptions masters, ClientOptions options) {
        Objects.requireNonNull(masters, "masters");
        return BackendClients.over(context -> RedlockBackend.open(masters, context), options);
    }
}

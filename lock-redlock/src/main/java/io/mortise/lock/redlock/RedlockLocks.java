// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.BackendClients;
import java.util.Objects;

/** Opens Redlock clients that are configured in code, with one URI or one existing Lettuce client for each master. */
public final class RedlockLocks {
    private RedlockLocks() {}

    /** Opens a client like {@link #connect(RedlockOptions, ClientOptions)} with {@link ClientOptions#defaults()}. */
    public static LockClient connect(RedlockOptions masters) {
        return connect(masters, ClientOptions.defaults());
    }

    /**
     * Opens a client and waits until a majority of the masters votes. Throws the same exceptions as {@link
     * io.mortise.lock.connect.Locks#connect}.
     *
     * <p>Masters that are new, were restarted or have lost their data stay in quarantine for {@link RedlockOptions#maxLease}.
     * If only these quarantines prevent a majority, this method waits beyond the connect timeout, and logs that once.
     */
    public static LockClient connect(RedlockOptions masters, ClientOptions options) {
        Objects.requireNonNull(masters, "masters");
        return BackendClients.open(context -> RedlockBackend.open(masters, context), options);
    }
}

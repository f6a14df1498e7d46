// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.spi.LockClients;
import java.util.Objects;

/** The typed way in: for masters with options of their own, or clients of theirs that the application already has. */
public final class RedlockLocks {
    private RedlockLocks() {}

    /** As {@link #connect(RedlockOptions, ClientOptions)} with {@link ClientOptions#defaults()}. */
    public static LockClient connect(RedlockOptions masters) {
        return connect(masters, ClientOptions.defaults());
    }

    /**
     * Opens a client and waits until a majority of the masters votes, as {@link io.mortise.lock.Locks#connect} does and with
     * its errors. Masters that are new, were restarted or have lost their data vote after {@link RedlockOptions#maxLease}: if
     * only that is missing, this waits for it beyond the connect timeout, and logs that once.
     */
    public static LockClient connect(RedlockOptions masters, ClientOptions options) {
        Objects.requireNonNull(masters, "masters");
        return LockClients.over(context -> RedlockBackend.open(masters, context), options);
    }
}

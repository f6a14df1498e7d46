// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.BackendClients;
import java.util.Objects;

/**
 * Opens lock clients for Redis that are configured in code instead of by a URL. This allows TLS with your own certificates,
 * or the use of a Lettuce client that the application already has.
 */
public final class RedisLocks {
    private RedisLocks() {}

    /** Opens a client with {@link ClientOptions#defaults()}, see {@link #connect(RedisOptions, ClientOptions)}. */
    public static LockClient connect(RedisOptions redis) {
        return connect(redis, ClientOptions.defaults());
    }

    /**
     * Opens a client and waits for the first response, with the same errors as {@link io.mortise.lock.connect.Locks#connect}.
     */
    public static LockClient connect(RedisOptions redis, ClientOptions options) {
        Objects.requireNonNull(redis, "redis");
        return BackendClients.open(context -> RedisBackend.open(redis, context), options);
    }
}

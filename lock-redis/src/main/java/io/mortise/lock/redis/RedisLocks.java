// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.BackendClients;
import java.util.Objects;

/** Programmatic configuration of Redis: TLS with certificates of your own, or a client that the application already has. */
public final class RedisLocks {
    private RedisLocks() {}

    /** As {@link #connect(RedisOptions, ClientOptions)} with {@link ClientOptions#defaults()}. */
    public static LockClient connect(RedisOptions redis) {
        return connect(redis, ClientOptions.defaults());
    }

    /**
     * Opens a client and waits for the first response, as {@link io.mortise.lock.connect.Locks#connect} does and with its errors.
     */
    public static LockClient connect(RedisOptions redis, ClientOptions options) {
        Objects.requireNonNull(redis, "redis");
        return BackendClients.over(context -> RedisBackend.open(redis, context), options);
    }
}

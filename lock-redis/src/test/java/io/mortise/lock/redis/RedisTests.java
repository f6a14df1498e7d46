// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisTestCluster;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.spi.LockName;
import java.time.Duration;
import java.util.Objects;

/** Constants and helpers that the tests of this module share. */
final class RedisTests {
    static final Duration SOON = Duration.ofSeconds(20);

    /** On a busy machine, the first connection of a JVM takes long. */
    static final ClientOptions LONG_TIMEOUTS = ClientOptions.defaults().connectTimeout(Duration.ofSeconds(60));

    private RedisTests() {}

    /** Returns how many attempts are queued for a lock with the default prefix. */
    static long waiters(RawRedis redis, String lock) {
        String queue = new RedisKeyLayout(RedisOptions.DEFAULT_PREFIX)
                .of(new LockName(lock))
                .queue();
        return (Long) Objects.requireNonNull(redis.call("ZCARD", queue));
    }

    /** Returns a signed message as a script would publish it, which needs read access to the queue. */
    static String signed(RawRedis redis, String lock, String attempt, String message) {
        RedisKeyLayout.OfLock keys = new RedisKeyLayout(RedisOptions.DEFAULT_PREFIX).of(new LockName(lock));
        String entry = String.valueOf(redis.call("HGET", keys.entries(), attempt));
        String nonce = entry.split(" ", 5)[3];
        Object signature =
                redis.call("EVAL", "return redis.sha1hex(ARGV[1])", "0", nonce + message + " " + keys.grant() + nonce);
        return message + " " + signature + " " + keys.grant();
    }

    /** Returns the number of connections, including the one of this query. */
    static long connections(RedisTestServer server) {
        try (RawRedis redis = server.connect()) {
            return Long.parseLong(Objects.requireNonNull(redis.info("clients").get("connected_clients")));
        }
    }

    /** Returns the sum of {@link RawRedis#scriptCallsExceptRenewals} over all nodes. */
    static long scriptsButRenewals(RedisTestCluster cluster) {
        long sum = 0;
        for (RedisTestServer node : cluster.nodes()) {
            try (RawRedis redis = node.connect()) {
                sum += redis.scriptCallsExceptRenewals();
            }
        }
        return sum;
    }
}

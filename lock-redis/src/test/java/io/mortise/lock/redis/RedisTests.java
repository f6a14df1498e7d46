// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisTestCluster;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.spi.LockName;
import java.time.Duration;
import java.util.Objects;

/** What the tests of this module share. */
final class RedisTests {
    static final Duration SOON = Duration.ofSeconds(20);

    /** On a machine that does many things at once, the first connection of a JVM takes its time. */
    static final ClientOptions LONG_TIMEOUTS = ClientOptions.defaults().connectTimeout(Duration.ofSeconds(60));

    private RedisTests() {}

    /** How many are queued for a lock with the default prefix. */
    static long waiters(RawRedis redis, String lock) {
        String queue = new RedisKeyLayout(RedisOptions.DEFAULT_PREFIX)
                .of(new LockName(lock))
                .queue();
        return (Long) Objects.requireNonNull(redis.call("ZCARD", queue));
    }

    /** A message as a script would publish it: what nobody can make who may not read the queue. */
    static String signed(RawRedis redis, String lock, String attempt, String said) {
        RedisKeyLayout.OfLock keys = new RedisKeyLayout(RedisOptions.DEFAULT_PREFIX).of(new LockName(lock));
        String entry = String.valueOf(redis.call("HGET", keys.entries(), attempt));
        String nonce = entry.split(" ", 5)[3];
        Object signature =
                redis.call("EVAL", "return redis.sha1hex(ARGV[1])", "0", nonce + said + " " + keys.grant() + nonce);
        return said + " " + signature + " " + keys.grant();
    }

    /** How many connections there are, with the one that asks. */
    static long connections(RedisTestServer server) {
        try (RawRedis redis = server.connect()) {
            return Long.parseLong(Objects.requireNonNull(redis.info("clients").get("connected_clients")));
        }
    }

    /** Of all nodes; as {@link RawRedis#scriptsButRenewals}. */
    static long scriptsButRenewals(RedisTestCluster cluster) {
        long sum = 0;
        for (RedisTestServer node : cluster.nodes()) {
            try (RawRedis redis = node.connect()) {
                sum += redis.scriptsButRenewals();
            }
        }
        return sum;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.testkit.servers.BareRedis;
import io.mortise.lock.testkit.servers.RedisTestCluster;
import io.mortise.lock.testkit.servers.RedisTestServer;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What the tests of this module share. */
final class RedisTests {
    private static final Pattern CLIENT = Pattern.compile(" name=mortise-([0-9a-f]{16}) ");

    /** Not a grant: what an escaped name has after a percent sign is upper case. */
    private static final Pattern OWN_KEY = Pattern.compile("%[a-z]");

    static final Duration SOON = Duration.ofSeconds(20);

    /** On a machine that does many things at once, the first connection of a JVM takes its time. */
    static final ClientOptions PATIENT = ClientOptions.defaults().connectTimeout(Duration.ofSeconds(60));

    private RedisTests() {}

    /** How many stand in line for a lock with the default prefix. */
    static long waiters(BareRedis redis, String lock) {
        String queue = new RedisKeys(RedisOptions.DEFAULT_PREFIX)
                .of(new LockName(lock))
                .queue();
        return (Long) Objects.requireNonNull(redis.call("ZCARD", queue));
    }

    /** The ids of the clients that are connected. */
    static Set<String> clientIds(int port) {
        try (BareRedis redis = BareRedis.connect(port)) {
            Set<String> ids = new TreeSet<>();
            Matcher matcher = CLIENT.matcher(String.valueOf(redis.call("CLIENT", "LIST")));
            while (matcher.find()) {
                ids.add(matcher.group(1));
            }
            return ids;
        }
    }

    /** How many connections there are, with the one that asks. */
    static long connections(RedisTestServer server) {
        try (BareRedis redis = server.connect()) {
            return Long.parseLong(Objects.requireNonNull(redis.info("clients").get("connected_clients")));
        }
    }

    /** The time of all grants of a client on this server is over. */
    static void expireGrants(BareRedis redis, String prefix, String clientId) {
        for (String key : redis.keys(prefix + "*")) {
            if (!OWN_KEY.matcher(key).find()
                    && String.valueOf(redis.call("GET", key)).contains(" client=" + clientId)) {
                redis.call("PEXPIRE", key, "0");
            }
        }
    }

    /** Of all nodes; as {@link BareRedis#scriptsButRenewals}. */
    static long scriptsButRenewals(RedisTestCluster cluster) {
        long sum = 0;
        for (RedisTestServer node : cluster.nodes()) {
            try (BareRedis redis = node.connect()) {
                sum += redis.scriptsButRenewals();
            }
        }
        return sum;
    }
}

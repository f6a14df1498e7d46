// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.mortise.lock.testkit.servers.BareRedis;
import io.mortise.lock.testkit.servers.RedisServerOptions;
import io.mortise.lock.testkit.servers.RedisTestServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Independent masters, each a process of its own. */
final class TestMasters implements AutoCloseable {
    private static final Pattern CLIENT = Pattern.compile(" name=mortise-([0-9a-f]{16}) ");

    /** Not a grant: what an escaped name has after a percent sign is upper case. */
    private static final Pattern OWN_KEY = Pattern.compile("%[a-z]");

    private final List<RedisTestServer> servers = new ArrayList<>();

    private TestMasters() {}

    static TestMasters start(int count) {
        return start(count, RedisServerOptions.defaults());
    }

    static TestMasters start(int count, RedisServerOptions options) {
        TestMasters masters = new TestMasters();
        for (int number = 0; number < count; number++) {
            masters.servers.add(RedisTestServer.start(options));
        }
        return masters;
    }

    List<RedisTestServer> all() {
        return servers;
    }

    RedisTestServer get(int index) {
        return servers.get(index);
    }

    List<Integer> ports() {
        return servers.stream().map(RedisTestServer::port).toList();
    }

    String url() {
        return url(ports());
    }

    static String url(List<Integer> ports) {
        return "redlock://" + ports.stream().map(port -> "127.0.0.1:" + port).collect(Collectors.joining(","));
    }

    void each(Consumer<BareRedis> what) {
        for (RedisTestServer server : servers) {
            try (BareRedis redis = server.connect()) {
                what.accept(redis);
            }
        }
    }

    long most(ToLongFunction<BareRedis> what) {
        long most = 0;
        for (RedisTestServer server : servers) {
            try (BareRedis redis = server.connect()) {
                most = Math.max(most, what.applyAsLong(redis));
            }
        }
        return most;
    }

    long sum(ToLongFunction<BareRedis> what) {
        long sum = 0;
        for (RedisTestServer server : servers) {
            try (BareRedis redis = server.connect()) {
                sum += what.applyAsLong(redis);
            }
        }
        return sum;
    }

    /** The ids of the clients that are connected. */
    Set<String> clientIds() {
        Set<String> ids = new TreeSet<>();
        each(redis -> {
            Matcher matcher = CLIENT.matcher(String.valueOf(redis.call("CLIENT", "LIST")));
            while (matcher.find()) {
                ids.add(matcher.group(1));
            }
        });
        return ids;
    }

    /** The time of all grants of a client is over. */
    void expireGrants(String prefix, String clientId) {
        each(redis -> {
            for (Object found : (List<?>) Objects.requireNonNull(redis.call("KEYS", prefix + "*"))) {
                String key = (String) found;
                if (!OWN_KEY.matcher(key).find()
                        && String.valueOf(redis.call("GET", key)).contains(" client=" + clientId)) {
                    redis.call("PEXPIRE", key, "0");
                }
            }
        });
    }

    /** Scripts that were run, without renewals, which alone read a part of the value. */
    static long requestsButRenewals(BareRedis redis) {
        Map<String, Long> calls = redis.commandCalls();
        return calls.getOrDefault("evalsha", 0L) + calls.getOrDefault("eval", 0L) - calls.getOrDefault("getrange", 0L);
    }

    @Override
    public void close() {
        servers.forEach(RedisTestServer::close);
    }
}

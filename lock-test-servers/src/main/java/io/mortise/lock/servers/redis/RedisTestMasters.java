// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/**
 * Several independent Redis masters for tests of Redlock, each a {@link RedisTestServer}. They end with this JVM, even if it is
 * killed. Thread-safe.
 */
public final class RedisTestMasters implements AutoCloseable {
    private final List<RedisTestServer> servers = new ArrayList<>();

    private RedisTestMasters(int count, RedisServerOptions options) {
        try {
            for (int number = 0; number < count; number++) {
                servers.add(RedisTestServer.start(options));
            }
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    /** Starts {@code count} masters with {@link RedisServerOptions#defaults()}; returns when they serve. */
    public static RedisTestMasters start(int count) {
        return start(count, RedisServerOptions.defaults());
    }

    /** Starts {@code count} masters that all have these options; returns when they serve. */
    public static RedisTestMasters start(int count, RedisServerOptions options) {
        return new RedisTestMasters(count, options);
    }

    /** Returns all masters, in the order in which they were started. */
    public List<RedisTestServer> all() {
        return List.copyOf(servers);
    }

    /** Returns one master, numbered from 0. */
    public RedisTestServer get(int number) {
        return servers.get(number);
    }

    /** Returns the ports of all masters, in the order of {@link #all()}. */
    public List<Integer> ports() {
        return servers.stream().map(RedisTestServer::port).toList();
    }

    /** Returns the URL of all masters, {@code redlock://127.0.0.1:7001,127.0.0.1:7002,…}. */
    public String url() {
        return "redlock://" + ports().stream().map(port -> "127.0.0.1:" + port).collect(Collectors.joining(","));
    }

    /** Performs an action on a connection to each master, one after the other. */
    public void each(Consumer<RawRedis> action) {
        for (RedisTestServer server : servers) {
            try (RawRedis redis = server.connect()) {
                action.accept(redis);
            }
        }
    }

    /** Returns the maximum over all masters of a value, which is at least 0. */
    public long most(ToLongFunction<RawRedis> value) {
        long[] max = {0};
        each(redis -> max[0] = Math.max(max[0], value.applyAsLong(redis)));
        return max[0];
    }

    /** Returns the sum over all masters of a value. */
    public long sum(ToLongFunction<RawRedis> value) {
        long[] sum = {0};
        each(redis -> sum[0] += value.applyAsLong(redis));
        return sum[0];
    }

    /** Kills all masters and deletes their data. */
    @Override
    public void close() {
        servers.forEach(RedisTestServer::close);
    }
}

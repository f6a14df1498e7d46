// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/**
 * Independent Redis masters for Redlock, each a {@link RedisTestServer} on a free port of 127.0.0.1. They end with this
 * JVM, however that ends. Thread-safe.
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

    /** Starts so many with {@link RedisServerOptions#defaults()}; they serve when this returns. */
    public static RedisTestMasters start(int count) {
        return start(count, RedisServerOptions.defaults());
    }

    /** Starts so many, each with these options; they serve when this returns. */
    public static RedisTestMasters start(int count, RedisServerOptions options) {
        return new RedisTestMasters(count, options);
    }

    /** In the order of their start. */
    public List<RedisTestServer> all() {
        return List.copyOf(servers);
    }

    /** The one of that number, from 0 on. */
    public RedisTestServer get(int number) {
        return servers.get(number);
    }

    /** In the same order. */
    public List<Integer> ports() {
        return servers.stream().map(RedisTestServer::port).toList();
    }

    /** {@code redlock://127.0.0.1:7001,127.0.0.1:7002,…}. */
    public String url() {
        return "redlock://" + ports().stream().map(port -> "127.0.0.1:" + port).collect(Collectors.joining(","));
    }

    /** Does that at each, one after the other. */
    public void each(Consumer<RawRedis> what) {
        for (RedisTestServer server : servers) {
            try (RawRedis redis = server.connect()) {
                what.accept(redis);
            }
        }
    }

    /** The highest of what each tells; 0 at least. */
    public long most(ToLongFunction<RawRedis> what) {
        long[] most = {0};
        each(redis -> most[0] = Math.max(most[0], what.applyAsLong(redis)));
        return most[0];
    }

    /** The sum of what each tells. */
    public long sum(ToLongFunction<RawRedis> what) {
        long[] sum = {0};
        each(redis -> sum[0] += what.applyAsLong(redis));
        return sum[0];
    }

    /** Ends all. */
    @Override
    public void close() {
        servers.forEach(RedisTestServer::close);
    }
}

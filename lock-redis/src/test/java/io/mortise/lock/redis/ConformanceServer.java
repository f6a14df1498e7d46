// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.lettuce.core.RedisURI;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.Faults;
import io.mortise.lock.testkit.servers.BareRedis;
import io.mortise.lock.testkit.servers.Line;
import io.mortise.lock.testkit.servers.RedisServerOptions;
import io.mortise.lock.testkit.servers.RedisTestServer;
import io.mortise.lock.testkit.servers.TcpProxy;
import io.mortise.lock.testkit.servers.TestServers;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * The server of a conformance test, which keeps its data over a restart. Each test has a prefix of its own, and each client
 * reaches the server over a line of its own. With a server from outside, which must be on this machine, what needs a hand on
 * the server is not verified.
 */
final class ConformanceServer implements AutoCloseable {
    private final @Nullable RedisTestServer own; // null: the server is one from outside
    private final String host;
    private final int port;

    private ConformanceServer(@Nullable RedisTestServer own, URI url) {
        this.own = own;
        this.host = url.getHost();
        this.port = url.getPort();
    }

    static ConformanceServer start() {
        Optional<String> given = TestServers.given("redis");
        if (given.isPresent()) {
            return new ConformanceServer(null, URI.create(given.get()));
        }
        RedisTestServer started =
                RedisTestServer.start(RedisServerOptions.defaults().withKeptData());
        return new ConformanceServer(started, URI.create(started.url()));
    }

    /** A prefix that nobody has used yet. */
    BackendUnderTest prefix() {
        return new OnePrefix("conformance-" + UUID.randomUUID() + ":");
    }

    private RedisTestServer server() {
        if (own == null) {
            throw new UnsupportedOperationException("the server is not ours");
        }
        return own;
    }

    @Override
    public void close() {
        if (own != null) {
            own.close();
        }
    }

    private final class OnePrefix implements BackendUnderTest, Faults {
        private final String prefix;
        private final List<TcpProxy> proxies = new CopyOnWriteArrayList<>();
        private final Map<LockClient, TcpProxy> lines = new ConcurrentHashMap<>();
        private final Map<LockClient, String> ids = new ConcurrentHashMap<>();
        private volatile boolean stopped;

        OnePrefix(String prefix) {
            this.prefix = prefix;
        }

        @Override
        public LockClient open(ClientOptions options) {
            TcpProxy line = TcpProxy.to(host, port);
            proxies.add(line);
            Set<String> before = stopped ? Set.of() : RedisTests.clientIds(port);
            LockClient client = RedisLocks.connect(
                    RedisOptions.connectTo(RedisURI.create("127.0.0.1", line.port()))
                            .prefix(prefix),
                    options);
            lines.put(client, line);
            RedisTests.clientIds(port).stream()
                    .filter(id -> !before.contains(id))
                    .findFirst()
                    .ifPresent(id -> ids.put(client, id));
            return client;
        }

        @Override
        public Optional<String> url() {
            return Optional.of(
                    "redis://" + host + ":" + port + "?prefix=" + prefix + "&lease=" + lease().toSeconds() + "s");
        }

        @Override
        public OptionalLong requests() {
            try (BareRedis redis = BareRedis.connect(port)) {
                return OptionalLong.of(RedisTests.requestsButRenewals(redis));
            }
        }

        @Override
        public Faults faults() {
            return this;
        }

        @Override
        public Line line(LockClient client) {
            return Objects.requireNonNull(lines.get(client));
        }

        /** Its time is over as far as the server is concerned. */
        @Override
        public void expireSession(LockClient client) {
            String mark = " client=" + Objects.requireNonNull(ids.get(client), "which client");
            try (BareRedis redis = BareRedis.connect(port)) {
                for (String key : RedisTests.keys(redis, prefix + "*")) {
                    if (!key.startsWith(prefix + "%")
                            && String.valueOf(redis.call("GET", key)).contains(mark)) {
                        redis.call("PEXPIRE", key, "0");
                    }
                }
            }
        }

        @Override
        public void deleteGrant(String lockName) {
            try (BareRedis redis = BareRedis.connect(port)) {
                redis.call(
                        "DEL", new RedisKeys(prefix).of(new LockName(lockName)).grant());
            }
        }

        @Override
        public void stopServer() {
            server().stop();
            stopped = true;
        }

        @Override
        public void startServer() {
            server().restart();
            stopped = false;
        }

        /** Netty keeps one executor for the whole JVM; the client's own threads are Lettuce's. */
        @Override
        public boolean isServerThread(Thread thread) {
            String name = thread.getName();
            return name.startsWith("mortise-proxy-") || (!name.startsWith("lettuce-") && !name.startsWith("mortise"));
        }

        @Override
        public void close() {
            proxies.forEach(TcpProxy::close);
        }
    }
}

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
import io.mortise.lock.testkit.servers.RedisTestServer;
import io.mortise.lock.testkit.servers.TcpProxy;
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

/** A prefix of its own for one test of the kit; each client reaches the server over a line of its own. */
final class OnePrefix implements BackendUnderTest, Faults {
    private final String host;
    private final int port;
    private final @Nullable RedisTestServer own; // null: the server is one from outside
    private final String prefix = "conformance-" + UUID.randomUUID() + ":";
    private final List<TcpProxy> proxies = new CopyOnWriteArrayList<>();
    private final Map<LockClient, TcpProxy> lines = new ConcurrentHashMap<>();
    private final Map<LockClient, String> ids = new ConcurrentHashMap<>();
    private volatile boolean stopped;

    OnePrefix(String host, int port, @Nullable RedisTestServer own) {
        this.host = host;
        this.port = port;
        this.own = own;
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
            redis.call("DEL", new RedisKeys(prefix).of(new LockName(lockName)).grant());
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

    private RedisTestServer server() {
        RedisTestServer started = own;
        if (started == null) {
            throw new UnsupportedOperationException("the server is not ours");
        }
        return started;
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

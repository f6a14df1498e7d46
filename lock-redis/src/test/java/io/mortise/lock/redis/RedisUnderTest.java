// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.lettuce.core.RedisURI;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.servers.TestServers;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisServerOptions;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.testkit.LinkedBackendUnderTest;
import io.mortise.lock.testkit.TestServerExtension;
import io.mortise.lock.testkit.proxy.TcpProxy;
import java.net.URI;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/** A Redis server under test by the kit: each test has its own key prefix, and each client its own link to the server. */
final class RedisUnderTest extends LinkedBackendUnderTest<TcpProxy> {
    private static final Map<String, String> VERSIONS = new ConcurrentHashMap<>();

    private final String prefix = "conformance-" + UUID.randomUUID() + ":";
    private final TestServerExtension<RedisTestServer> server;
    private final String host;
    private final int port;

    RedisUnderTest(TestServerExtension<RedisTestServer> server) {
        URI url = URI.create(server.address());
        this.server = server;
        this.host = url.getHost();
        this.port = url.getPort();
    }

    /** Returns a server that keeps its data over a restart. An external server must be on this machine, and may be shared. */
    static TestServerExtension<RedisTestServer> server() {
        return TestServers.redis(RedisServerOptions.defaults().withKeptData());
    }

    @Override
    public String description() {
        return "Redis " + VERSIONS.computeIfAbsent(server.address(), address -> version()) + ", one server";
    }

    private String version() {
        if (server.startedServerIfAny().isEmpty()) {
            return "(external)";
        }
        try (RawRedis redis = server.startedServer().connect()) {
            return String.valueOf(redis.info("server").get("redis_version"));
        }
    }

    @Override
    protected TcpProxy newLink() {
        return TcpProxy.to(host, port);
    }

    @Override
    protected LockClient connect(TcpProxy link, ClientOptions options) {
        return RedisLocks.connect(
                RedisOptions.connectTo(RedisURI.create("127.0.0.1", link.port()))
                        .prefix(prefix),
                options);
    }

    /** Returns the ids of the clients; none for an external server, where they may belong to others. */
    @Override
    protected Set<String> sessions() {
        if (server.startedServerIfAny().isEmpty()) {
            return Set.of();
        }
        try (RawRedis redis = server.startedServer().connect()) {
            return redis.mortiseClients();
        }
    }

    @Override
    public Optional<String> url() {
        return Optional.of(
                "redis://" + host + ":" + port + "?prefix=" + prefix + "&lease=" + lease().toSeconds() + "s");
    }

    @Override
    public OptionalLong requests() {
        if (server.startedServerIfAny().isEmpty()) {
            return OptionalLong.empty();
        }
        try (RawRedis redis = server.startedServer().connect()) {
            return OptionalLong.of(redis.scriptCallsExceptRenewals());
        }
    }

    /** Lets the client's grants expire on the server. */
    @Override
    public void expireSession(LockClient client) {
        try (RawRedis redis = server.startedServer().connect()) {
            redis.expireGrants(prefix, session(client));
        }
    }

    @Override
    public void deleteGrant(String lockName) {
        try (RawRedis redis = RawRedis.connect(port)) {
            redis.call(
                    "DEL", new RedisKeyLayout(prefix).of(new LockName(lockName)).grant());
        }
    }

    @Override
    public void stopServer() {
        server.startedServer().stop();
    }

    @Override
    public void startServer() {
        server.startedServer().restart();
    }

    /** Netty keeps one executor for the whole JVM; the client's threads are those of Lettuce and Mortise. */
    @Override
    public boolean isServerThread(Thread thread) {
        String name = thread.getName();
        return !name.startsWith("lettuce-") && !name.startsWith("mortise");
    }
}

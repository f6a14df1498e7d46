// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.lettuce.core.RedisURI;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisServerOptions;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.testkit.LinkedBackendUnderTest;
import io.mortise.lock.testkit.TestServerExtension;
import io.mortise.lock.testkit.proxy.TcpProxy;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;

/** A prefix of its own for one test of the kit; each client reaches the server over a link of its own. */
final class RedisUnderTest extends LinkedBackendUnderTest<TcpProxy> {
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

    /** It keeps its data over a restart. One from outside must be on this machine, and may serve others at the same time. */
    static TestServerExtension<RedisTestServer> server() {
        return new TestServerExtension<>(
                "redis",
                () -> RedisTestServer.start(RedisServerOptions.defaults().withKeptData()),
                RedisTestServer::url);
    }

    /** The shorter default does not stand a machine that stalls: a renewal comes every third of it. */
    @Override
    public Duration lease() {
        return Duration.ofSeconds(3);
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

    /** The ids of the clients; on a server from outside nobody knows whose they are. */
    @Override
    protected Set<String> sessions() {
        if (server.ifOwn().isEmpty()) {
            return Set.of();
        }
        try (RawRedis redis = server.own().connect()) {
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
        if (server.ifOwn().isEmpty()) {
            return OptionalLong.empty();
        }
        try (RawRedis redis = server.own().connect()) {
            return OptionalLong.of(redis.scriptsButRenewals());
        }
    }

    /** Its time has passed as far as the server is concerned. */
    @Override
    public void expireSession(LockClient client) {
        try (RawRedis redis = server.own().connect()) {
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
        server.own().stop();
    }

    @Override
    public void startServer() {
        server.own().restart();
    }

    /** Netty keeps one executor for the whole JVM; the client's own threads are Lettuce's. */
    @Override
    public boolean isServerThread(Thread thread) {
        String name = thread.getName();
        return !name.startsWith("lettuce-") && !name.startsWith("mortise");
    }
}

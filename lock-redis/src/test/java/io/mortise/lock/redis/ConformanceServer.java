// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.lettuce.core.RedisURI;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.testkit.BackendOverLines;
import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.servers.BareRedis;
import io.mortise.lock.testkit.servers.RedisServerOptions;
import io.mortise.lock.testkit.servers.RedisTestServer;
import io.mortise.lock.testkit.servers.TcpProxy;
import io.mortise.lock.testkit.servers.TestServers;
import java.net.URI;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
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

    private final class OnePrefix extends BackendOverLines<TcpProxy> {
        private final String prefix;

        OnePrefix(String prefix) {
            this.prefix = prefix;
        }

        @Override
        protected TcpProxy newLine() {
            return TcpProxy.to(host, port);
        }

        @Override
        protected LockClient connect(TcpProxy line, ClientOptions options) {
            return RedisLocks.connect(
                    RedisOptions.connectTo(RedisURI.create("127.0.0.1", line.port()))
                            .prefix(prefix),
                    options);
        }

        /** Their clients' ids. */
        @Override
        protected Set<String> sessions() {
            return RedisTests.clientIds(port);
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

        /** Its time is over as far as the server is concerned. */
        @Override
        public void expireSession(LockClient client) {
            try (BareRedis redis = BareRedis.connect(port)) {
                RedisTests.expireGrants(redis, prefix, session(client));
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
        }

        @Override
        public void startServer() {
            server().restart();
        }

        /** Netty keeps one executor for the whole JVM; the client's own threads are Lettuce's. */
        @Override
        public boolean isServerThread(Thread thread) {
            String name = thread.getName();
            return !name.startsWith("lettuce-") && !name.startsWith("mortise");
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.Faults;
import io.mortise.lock.testkit.LockConformance;
import io.mortise.lock.testkit.servers.Line;
import io.mortise.lock.testkit.servers.TcpProxy;
import io.mortise.lock.testkit.servers.TestEndpoint;
import io.mortise.lock.testkit.servers.TestServers;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/**
 * The contract of every backend, kept on a ZooKeeper server; each client reaches it over a line of its own. A server from
 * outside must allow sessions of 3 s.
 */
class ZooKeeperConformanceTest extends LockConformance {
    private static TestEndpoint server;

    @BeforeAll
    static void startServer() {
        server = TestServers.zooKeeper();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @Override
    protected BackendUnderTest backend() {
        return new OneBasePath("/conformance-" + UUID.randomUUID());
    }

    private record OneBasePath(String base, Map<LockClient, TcpProxy> lines) implements BackendUnderTest, Faults {
        /** Shorter ones do not stand a loaded machine: a sync must be answered within three quarters of it. */
        private static final Duration SESSION = Duration.ofSeconds(3);

        OneBasePath(String base) {
            this(base, new ConcurrentHashMap<>());
        }

        @Override
        public LockClient open(ClientOptions options) {
            String[] hostAndPort = server.address().split(":", 2);
            TcpProxy line = TcpProxy.to(hostAndPort[0], Integer.parseInt(hostAndPort[1]));
            LockClient client = ZooKeeperLocks.connect(
                    ZkTests.options(line.address(), SESSION).basePath(base), options);
            lines.put(client, line);
            return client;
        }

        @Override
        public Duration lease() {
            return SESSION;
        }

        @Override
        public Optional<String> url() {
            return Optional.of("zookeeper://" + server.address() + base + "?sessionTimeout=3s");
        }

        @Override
        public Faults faults() {
            return this;
        }

        @Override
        public Line line(LockClient client) {
            return Objects.requireNonNull(lines.get(client));
        }

        /** The server's workers come and go; the client's own threads are named after its send and event threads. */
        @Override
        public boolean isServerThread(Thread thread) {
            String name = thread.getName();
            return name.startsWith("mortise-proxy-")
                    || (!name.contains("-SendThread") && !name.contains("-EventThread") && !name.startsWith("mortise"));
        }

        @Override
        public void close() {
            lines.values().forEach(TcpProxy::close);
        }
    }
}

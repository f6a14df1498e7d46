// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.testkit.LinkedBackendUnderTest;
import io.mortise.lock.testkit.TestServerExtension;
import io.mortise.lock.testkit.proxy.TcpProxy;
import io.mortise.lock.zookeeper.queue.ContenderNode;
import io.mortise.lock.zookeeper.queue.LockPaths;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.apache.zookeeper.Version;
import org.apache.zookeeper.ZooKeeper;

/** The ZooKeeper backend for one conformance test, with a separate base path and a separate proxy for each client. */
final class ZooKeeperUnderTest extends LinkedBackendUnderTest<TcpProxy> {
    /** Shorter sessions end on a loaded machine, since a sync must complete within three quarters of the timeout. */
    private final TestServerExtension<ZooKeeperTestServer> server;

    private final String base = "/conformance-" + UUID.randomUUID();

    ZooKeeperUnderTest(TestServerExtension<ZooKeeperTestServer> server) {
        this.server = server;
    }

    @Override
    public String description() {
        boolean started = server.startedServerIfAny().isPresent(); // in this JVM
        return "ZooKeeper " + (started ? Version.getVersion() : "(external)") + ", one server";
    }

    /** Returns the server. An external server must allow sessions of 3 s. */
    static TestServerExtension<ZooKeeperTestServer> server() {
        return new TestServerExtension<>("zookeeper", ZooKeeperTestServer::start, ZooKeeperTestServer::connectString);
    }

    @Override
    protected TcpProxy newLink() {
        String[] hostAndPort = server.address().split(":", 2);
        return TcpProxy.to(hostAndPort[0], Integer.parseInt(hostAndPort[1]));
    }

    @Override
    protected LockClient connect(TcpProxy proxy, ClientOptions options) {
        // The address is listed twice because ZooKeeper's client pauses for a second before it retries a single server.
        ZooKeeperOptions zooKeeper = ZooKeeperTestSupport.options(proxy.address() + "," + proxy.address(), lease());
        return ZooKeeperLocks.connect(zooKeeper.basePath(base), options);
    }

    @Override
    protected Set<String> sessions() {
        return server.startedServerIfAny().map(ZooKeeperTestServer::sessions).orElse(Set.of()).stream()
                .map(String::valueOf)
                .collect(Collectors.toSet());
    }

    /** Returns the limit within which the watch on the contender's own node reports a deletion. */
    @Override
    public Duration removalNotifiedWithin() {
        return Duration.ofSeconds(1);
    }

    @Override
    public Optional<String> url() {
        return Optional.of("zookeeper://" + server.address() + base + "?sessionTimeout=" + lease().toSeconds() + "s");
    }

    @Override
    public OptionalLong requests() {
        return server.startedServerIfAny()
                .map(started -> OptionalLong.of(started.requestsWithoutPings()
                        - started.requests().getOrDefault("sync", 0L) // sent by renewals
                        - started.requests().getOrDefault("check", 0L)))
                .orElse(OptionalLong.empty());
    }

    @Override
    public void expireSession(LockClient client) {
        server.startedServer().expireSession(Long.parseLong(session(client)));
    }

    @Override
    public void deleteGrant(String lockName) {
        String lockNode = new LockPaths(base).lockNode(new LockName(lockName));
        try (ZooKeeper operator = ZooKeeperTestSupport.openHandle(server.address())) {
            String first = ContenderNode.queue(operator.getChildren(lockNode, false))
                    .get(0)
                    .name();
            operator.delete(lockNode + "/" + first, -1);
        } catch (Exception e) {
            throw new IllegalStateException(e);
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

    /**
     * Returns whether the thread belongs neither to Mortise nor to ZooKeeper's client. The server in this JVM starts and stops
     * its threads at any time.
     */
    @Override
    public boolean isServerThread(Thread thread) {
        String name = thread.getName();
        return !name.contains("-SendThread") && !name.contains("-EventThread") && !name.startsWith("mortise");
    }
}

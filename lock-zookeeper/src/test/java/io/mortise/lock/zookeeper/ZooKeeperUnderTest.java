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
import org.apache.zookeeper.ZooKeeper;

/** A base path of its own for one test of the kit; each client reaches the server over a proxy of its own. */
final class ZooKeeperUnderTest extends LinkedBackendUnderTest<TcpProxy> {
    /** Shorter sessions end on a loaded machine: a sync must be answered within three quarters of it. */
    private static final Duration SESSION = Duration.ofSeconds(3);

    private final TestServerExtension<ZooKeeperTestServer> server;
    private final String base = "/conformance-" + UUID.randomUUID();

    ZooKeeperUnderTest(TestServerExtension<ZooKeeperTestServer> server) {
        this.server = server;
    }

    /** Returns the server; an external one must allow sessions of 3 s. */
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
        // Twice: before it tries the one and only server again, ZooKeeper's client pauses for a second.
        ZooKeeperOptions zooKeeper = ZooKeeperTestSupport.options(proxy.address() + "," + proxy.address(), SESSION);
        return ZooKeeperLocks.connect(zooKeeper.basePath(base), options);
    }

    @Override
    protected Set<String> sessions() {
        return server.ifOwn().map(ZooKeeperTestServer::sessions).orElse(Set.of()).stream()
                .map(String::valueOf)
                .collect(Collectors.toSet());
    }

    @Override
    public Duration lease() {
        return SESSION;
    }

    /** By the watch on the own node. */
    @Override
    public Duration removalToldWithin() {
        return Duration.ofSeconds(1);
    }

    @Override
    public Optional<String> url() {
        return Optional.of("zookeeper://" + server.address() + base + "?sessionTimeout=" + SESSION.toSeconds() + "s");
    }

    @Override
    public OptionalLong requests() {
        return server.ifOwn()
                .map(started -> OptionalLong.of(started.packetsReceived()
                        - started.requests().getOrDefault("sync", 0L) // sent by renewals
                        - started.requests().getOrDefault("check", 0L)))
                .orElse(OptionalLong.empty());
    }

    @Override
    public void expireSession(LockClient client) {
        server.own().expireSession(Long.parseLong(session(client)));
    }

    @Override
    public void deleteGrant(String lockName) {
        String lockNode = new LockPaths(base).lockNode(new LockName(lockName));
        try (ZooKeeper operator = ZooKeeperTestSupport.openHandle(server.address())) {
            String first = ContenderNode.queue(operator.getChildren(lockNode, false), Optional.empty())
                    .get(0)
                    .name();
            operator.delete(lockNode + "/" + first, -1);
        } catch (Exception e) {
            throw new IllegalStateException(e);
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

    /** The server's workers come and go; the client's own threads are named after its send and event threads. */
    @Override
    public boolean isServerThread(Thread thread) {
        String name = thread.getName();
        return !name.contains("-SendThread") && !name.contains("-EventThread") && !name.startsWith("mortise");
    }
}

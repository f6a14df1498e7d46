// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.Faults;
import io.mortise.lock.testkit.servers.Line;
import io.mortise.lock.testkit.servers.TcpProxy;
import io.mortise.lock.testkit.servers.ZooKeeperTestServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/** A base path of its own for one test of the kit; each client reaches the server over a line of its own. */
final class OneBasePath implements BackendUnderTest, Faults {
    /** Shorter ones do not stand a loaded machine: a sync must be answered within three quarters of it. */
    private static final Duration SESSION = Duration.ofSeconds(3);

    private final String address;
    private final @Nullable ZooKeeperTestServer own; // null: the server is one from outside
    private final String base = "/conformance-" + UUID.randomUUID();
    private final List<TcpProxy> proxies = new CopyOnWriteArrayList<>();
    private final Map<LockClient, TcpProxy> lines = new ConcurrentHashMap<>();
    private final Map<LockClient, Long> sessions = new ConcurrentHashMap<>();
    private boolean stopped;

    OneBasePath(String address, @Nullable ZooKeeperTestServer own) {
        this.address = address;
        this.own = own;
    }

    @Override
    public LockClient open(ClientOptions options) {
        String[] hostAndPort = address.split(":", 2);
        TcpProxy line = TcpProxy.to(hostAndPort[0], Integer.parseInt(hostAndPort[1]));
        proxies.add(line);
        Set<Long> before = sessionIds();
        // Twice: before it tries the one and only server again, ZooKeeper's client pauses for a second.
        ZooKeeperOptions zooKeeper = ZkTests.options(line.address() + "," + line.address(), SESSION);
        LockClient client = ZooKeeperLocks.connect(zooKeeper.basePath(base), options);
        lines.put(client, line);
        sessionIds().stream()
                .filter(session -> !before.contains(session))
                .findFirst()
                .ifPresent(session -> sessions.put(client, session));
        return client;
    }

    private Set<Long> sessionIds() {
        ZooKeeperTestServer started = own;
        return started == null || stopped ? Set.of() : started.sessions();
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
        return Optional.of("zookeeper://" + address + base + "?sessionTimeout=" + SESSION.toSeconds() + "s");
    }

    @Override
    public OptionalLong requests() {
        ZooKeeperTestServer started = own;
        if (started == null) {
            return OptionalLong.empty();
        }
        long syncs = started.requests().getOrDefault("sync", 0L); // what renewals are made of
        return OptionalLong.of(started.packetsReceived() - syncs);
    }

    @Override
    public Faults faults() {
        return this;
    }

    @Override
    public Line line(LockClient client) {
        return Objects.requireNonNull(lines.get(client));
    }

    @Override
    public void expireSession(LockClient client) {
        server().expireSession(Objects.requireNonNull(sessions.get(client), "which session"));
    }

    @Override
    public void deleteGrant(String lockName) {
        String lockNode = new LockPaths(base).lockNode(new LockName(lockName));
        try (ZooKeeper operator = ZkTests.connect(address)) {
            String first = Contender.inLine(operator.getChildren(lockNode, false), Optional.empty())
                    .get(0)
                    .node();
            operator.delete(lockNode + "/" + first, -1);
        } catch (Exception e) {
            throw new IllegalStateException(e);
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

    private ZooKeeperTestServer server() {
        ZooKeeperTestServer started = own;
        if (started == null) {
            throw new UnsupportedOperationException("the server is not ours");
        }
        return started;
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
        proxies.forEach(TcpProxy::close);
    }
}

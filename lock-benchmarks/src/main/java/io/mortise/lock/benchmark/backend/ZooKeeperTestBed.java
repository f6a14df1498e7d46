// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/** Benchmarks Mortise against a hand-written client and Curator on a ZooKeeper server in this JVM. */
final class ZooKeeperTestBed implements TestBed {
    static final String NAME = "zookeeper";

    /** Session timeout of all competitors; long enough for a busy machine. */
    static final Duration SESSION = Duration.ofSeconds(5);

    /** Data of each node, as long as Mortise's owner record, so that all competitors write the same amount. */
    static final byte[] DATA = "-".repeat(120).getBytes(StandardCharsets.US_ASCII);

    static final List<Competitor> COMPETITORS = List.of(
            new MortiseCompetitor("zookeeper://", "/mortise?sessionTimeout=" + SESSION.toSeconds() + "s"),
            new RawZooKeeperCompetitor(),
            new CuratorCompetitor());

    private final ZooKeeperTestServer server = ZooKeeperTestServer.start();

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String description() {
        return "ZooKeeper " + LibraryVersions.of("zookeeper") + ", one server in this JVM";
    }

    @Override
    public List<Competitor> competitors() {
        return COMPETITORS;
    }

    @Override
    public String endpoint() {
        return server.connectString();
    }

    @Override
    public boolean isRemote() {
        return true;
    }

    /** Returns a handle with an established session. */
    static ZooKeeper connect(String endpoint) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper handle = new ZooKeeper(endpoint, Math.toIntExact(SESSION.toMillis()), event -> {
            if (event.getState() == KeeperState.SyncConnected) {
                connected.countDown();
            }
        });
        if (!connected.await(SESSION.toMillis(), TimeUnit.MILLISECONDS)) {
            handle.close();
            throw new IllegalStateException("no ZooKeeper server replied at " + endpoint + " within " + SESSION);
        }
        return handle;
    }

    @Override
    public WriteRoundTripProbe roundTrip(String endpoint) throws Exception {
        ZooKeeper handle = connect(endpoint);
        String node = handle.create("/round-trip-", DATA, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL);
        return new WriteRoundTripProbe() {
            @Override
            public void writeOnce() throws Exception {
                handle.setData(node, DATA, -1);
            }

            @Override
            public void close() throws InterruptedException {
                handle.close();
            }
        };
    }

    @Override
    public Map<String, Long> requests() {
        return server.requests();
    }

    @Override
    public List<String> keepAlive() {
        return List.of("ping", "sync", "check");
    }

    @Override
    public Duration renewal() {
        return SESSION.dividedBy(5);
    }

    @Override
    public List<PerformanceGoal> goals() {
        return List.of(
                PerformanceGoal.ratioAtLeast(1.35, CuratorCompetitor.NAME, "one-thread", "cycles/s"),
                PerformanceGoal.ratioAtLeast(1.2, CuratorCompetitor.NAME, "contended", "hand-offs/s"),
                PerformanceGoal.ratioAtLeast(1.5, CuratorCompetitor.NAME, "one-thread-5ms", "cycles/s"),
                PerformanceGoal.ratioAtLeast(1.0, CuratorCompetitor.NAME, "contended-5ms", "hand-offs/s"),
                PerformanceGoal.atMost(2.0, "crowd", "requests per hand-off"),
                PerformanceGoal.atMost(0, "held", "work per renewal period"),
                PerformanceGoal.atMost(1, "held", "sync per renewal period"),
                PerformanceGoal.atMost(10, "held", "added threads"),
                PerformanceGoal.atMost(1.5, "round-trips", "cycle, async release"),
                PerformanceGoal.atMost(2.0, "round-trips", "cycle, release awaited"),
                PerformanceGoal.atMost(1.3, "round-trips", "hand-off"));
    }

    @Override
    public void close() {
        server.close();
    }
}

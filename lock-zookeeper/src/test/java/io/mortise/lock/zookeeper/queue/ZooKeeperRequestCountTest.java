// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LossReason;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.zookeeper.ZooKeeperTestSupport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests how many requests each operation sends, as counted by the server. */
@Tag("once")
class ZooKeeperRequestCountTest {
    private static final Duration SESSION = Duration.ofSeconds(20);

    private static ZooKeeperTestServer server;
    private LockClient client;

    @BeforeAll
    static void startServer() {
        server = ZooKeeperTestServer.start();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void connect() {
        client = ZooKeeperTestSupport.connectClient(server.connectString(), SESSION);
    }

    @AfterEach
    void close() {
        client.close();
        assertThat(server.liveEphemerals()).isEmpty();
        assertThat(server.watchCount()).isZero();
    }

    @Test
    void anUncontendedLockCycleSendsOneCreateOneListAndOneDelete() throws Exception {
        DistributedLock lock = client.named("wire");
        lock.acquire().close(); // the lock node is created once
        Map<String, Long> before;
        long start;
        long held;
        do { // repeated if this machine stalls, since a long hold sends another request
            before = server.requests();
            start = System.nanoTime();
            lock.acquire().close();
            held = System.nanoTime() - start;
        } while (held >= ZooKeeperContender.WATCH_OWN_NODE_AFTER.toNanos());
        long deadline = start
                + held
                + ZooKeeperContender.WATCH_OWN_NODE_AFTER.multipliedBy(3).toNanos();
        Await.until(
                "a deferred watch would be registered",
                ZooKeeperTestSupport.SOON,
                () -> System.nanoTime() - deadline > 0);
        assertThat(ZooKeeperTestSupport.sent(server, before))
                .isEqualTo(Map.of("create2", 1L, "getChildren", 1L, "delete", 1L));
    }

    /** The grant arrives on the event thread, which is still at work when the caller goes on. */
    @Test
    void S11_aReleaseIsSentBeforeTheCallersNextAcquire() throws Exception {
        DistributedLock lock = client.named("in-order");
        Lease lease = lock.acquire();
        for (int i = 0; i < 300; i++) {
            lease.releaseAsync();
            lease = lock.tryAcquire().orElseThrow();
        }
        lease.close();
    }

    @Test
    void S07_aLongerLeaseTakesOneRequestToWatchItsNode() throws Exception {
        DistributedLock lock = client.named("while");
        lock.acquire().close();
        Map<String, Long> before = server.requests();
        Lease lease = lock.acquire();
        Await.until("the lease's node is watched", ZooKeeperTestSupport.SOON, () -> server.watchCount() == 1);
        lease.close();
        assertThat(ZooKeeperTestSupport.sent(server, before))
                .isEqualTo(Map.of("create2", 1L, "getChildren", 1L, "getData", 1L, "delete", 1L));
    }

    @Test
    void S07_theLossIsReportedSoonEvenIfTheNodeIsDeletedRightAfterTheGrant() throws Exception {
        ZooKeeper operator = ZooKeeperTestSupport.openHandle(server.connectString());
        try {
            Lease lease = client.named("at-once").acquire();
            operator.delete(ZooKeeperTestSupport.fencingCondition(lease).node(), -1);
            long start = System.nanoTime();
            assertThat(lease.lost().get(10, TimeUnit.SECONDS).kind()).isEqualTo(LossReason.Kind.REMOVED);
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(ZooKeeperTestSupport.WOKEN);
        } finally {
            operator.close();
        }
    }

    @Test
    void S09_aFailedTryAcquireTakesOneRoundTripAndLeavesNoNode() throws Exception {
        DistributedLock lock = client.named("busy");
        try (Lease lease = lock.acquire()) {
            Await.until("the holder's watch is registered", ZooKeeperTestSupport.SOON, () -> server.watchCount() == 1);
            Map<String, Long> before = server.requests();
            assertThat(lock.tryAcquire()).isEmpty();
            Await.until(
                    "the node is withdrawn",
                    ZooKeeperTestSupport.SOON,
                    () -> server.liveEphemerals().size() == 1);
            assertThat(ZooKeeperTestSupport.sent(server, before))
                    .isEqualTo(Map.of("create2", 1L, "getChildren", 1L, "delete", 1L));
            assertThat(lease.isHeld()).isTrue();
        }
    }

    @Test
    void S11_aHandOffWithOnePredecessorNeedsNoRequest() throws Exception {
        DistributedLock lock = client.named("handed");
        Lease first = lock.acquire();
        Await.until("the holder's watch is registered", ZooKeeperTestSupport.SOON, () -> server.watchCount() == 1);
        CompletableFuture<Lease> second = lock.acquireAsync();
        ZooKeeperTestSupport.awaitWaiters(client, "handed", 1);
        Await.until(
                "both watches of the waiter are registered", ZooKeeperTestSupport.SOON, () -> server.watchCount() == 2);
        Map<String, Long> before = server.requests();
        first.close();
        Lease got = second.get(10, TimeUnit.SECONDS);
        assertThat(ZooKeeperTestSupport.sent(server, before)).isEqualTo(Map.of("delete", 1L));
        assertThat(got.fencingToken()).isGreaterThan(first.fencingToken());
        got.close();
    }

    @Test
    void S11_twoHundredWaitersNeedTwoRequestsPerHandOff() throws Exception {
        int clients = 10;
        int threads = 20;
        List<LockClient> all = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            all.add(ZooKeeperTestSupport.connectClient(server.connectString(), SESSION));
        }
        try {
            Lease holder = client.named("crowd").acquire();
            Await.until("the holder's watch is registered", ZooKeeperTestSupport.SOON, () -> server.watchCount() == 1);
            Map<String, Long> empty = server.requests();
            AtomicInteger inside = new AtomicInteger();
            long start = System.nanoTime();
            List<CompletableFuture<Void>> waiters = new ArrayList<>();
            for (int i = 0; i < clients * threads; i++) {
                waiters.add(all.get(i % clients).named("crowd").callAsync(lease -> {
                    assertThat(inside.incrementAndGet()).isEqualTo(1);
                    inside.decrementAndGet();
                    return CompletableFuture.completedFuture(null);
                }));
            }
            // Each waiter registers three watches, and the first one two. The server's count of watches would be lower,
            // since
            // it counts the watches of one session on one node once.
            Await.until(
                    "all watches are registered",
                    ZooKeeperTestSupport.SOON,
                    () -> ZooKeeperTestSupport.sent(server, empty).getOrDefault("getData", 0L)
                            >= 3L * clients * threads - 1);
            Map<String, Long> before = server.requests();
            holder.close();
            CompletableFuture.allOf(waiters.toArray(CompletableFuture[]::new)).get(30, TimeUnit.SECONDS);
            long requests = ZooKeeperTestSupport.sent(server, before).values().stream()
                    .mapToLong(Long::longValue)
                    .sum();
            // On a slow machine the fallback timer may have made each waiter list the queue every 5 s.
            long lists = (long) clients * threads * ((System.nanoTime() - start) / 5_000_000_000L);
            // Each hand-off takes a release and one list. A list is sometimes repeated because an event overtakes it.
            assertThat((requests - lists) / (double) (clients * threads)).isLessThanOrEqualTo(2.1);
        } finally {
            all.forEach(LockClient::close);
        }
    }

    @Test
    void S07_aThousandHeldLocksNeedOneWritePerRenewalAndNoThreadPerLock() throws Exception {
        List<Lease> held = new ArrayList<>();
        try (LockClient holder = ZooKeeperTestSupport.connectClient(server.connectString(), Duration.ofSeconds(5))) {
            for (int i = 0; i < 1000; i++) {
                held.add(holder.named("held/" + i).acquireAsync().get(10, TimeUnit.SECONDS));
            }
            int threads = Thread.activeCount();
            Await.until("all watches are registered", ZooKeeperTestSupport.SOON, () -> server.watchCount() == 1000);
            Map<String, Long> before = server.requests();
            long start = System.nanoTime();
            Await.until(
                    "five renewals", ZooKeeperTestSupport.SOON, () -> writes(server.requests()) >= writes(before) + 5);
            double periods = (System.nanoTime() - start) / 1e9;
            assertThat(ZooKeeperTestSupport.sent(server, before)).isEmpty();
            assertThat(writes(server.requests()) - writes(before)).isLessThanOrEqualTo((long) (periods * 1.3) + 3);
            assertThat(threads).isLessThan(100);
            assertThat(held).allMatch(Lease::isHeld);
        }
    }

    @Test
    void S07_aHundredQueuedLocksNeedOneWritePerRenewal() throws Exception {
        List<CompletableFuture<Lease>> waiters = new ArrayList<>();
        try (LockClient waiting = ZooKeeperTestSupport.connectClient(server.connectString(), Duration.ofSeconds(5))) {
            for (int i = 0; i < 100; i++) {
                client.named("waited/" + i).acquireAsync().get(10, TimeUnit.SECONDS);
                waiters.add(waiting.named("waited/" + i).acquireAsync());
            }
            Await.until(
                    "all are queued",
                    ZooKeeperTestSupport.SOON,
                    () -> server.liveEphemerals().size() == 200);
            Map<String, Long> before = server.requests();
            long start = System.nanoTime();
            Await.until(
                    "four renewals", ZooKeeperTestSupport.SOON, () -> writes(server.requests()) >= writes(before) + 4);
            double periods = (System.nanoTime() - start) / 1e9;
            // The count includes the holder's renewals, every 4 s.
            assertThat(writes(server.requests()) - writes(before)).isLessThanOrEqualTo((long) (periods * 1.55) + 4);
            assertThat(waiters).noneMatch(CompletableFuture::isDone);
        }
    }

    @Test
    void S10_aWithdrawnWaiterLeavesNoNodeAndNoWatch() throws Exception {
        DistributedLock lock = client.named("left");
        try (Lease lease = lock.acquire()) {
            Await.until("the holder's watch is registered", ZooKeeperTestSupport.SOON, () -> server.watchCount() == 1);
            try (LockClient other = ZooKeeperTestSupport.connectClient(server.connectString(), SESSION)) {
                for (int i = 0; i < 20; i++) {
                    CompletableFuture<Lease> waiter = other.named("left").acquireAsync();
                    ZooKeeperTestSupport.awaitWaiters(client, "left", 1);
                    waiter.cancel(true);
                    ZooKeeperTestSupport.awaitWaiters(client, "left", 0);
                    Await.until(
                            "no watch of the waiter is left",
                            ZooKeeperTestSupport.SOON,
                            () -> server.watchCount() == 1);
                }
            }
            assertThat(lease.isHeld()).isTrue();
        }
    }

    /** While no lock is held or waited for, renewals cause the servers no disk writes. */
    @Test
    void S17_anIdleSessionWritesNothing() throws Exception {
        try (LockClient idle = ZooKeeperTestSupport.connectClient(server.connectString(), Duration.ofSeconds(6))) {
            DistributedLock lock = idle.named("before-idle");
            lock.acquire().close();
            String node = ZooKeeperTestSupport.lockNode("before-idle");
            ZooKeeper operator = ZooKeeperTestSupport.openHandle(server.connectString());
            try {
                Await.until(
                        "the lock node is deleted",
                        ZooKeeperTestSupport.SOON,
                        () -> operator.exists(node, false) == null);
            } finally {
                operator.close();
            }
            Map<String, Long> before = server.requests();
            Await.until(
                    "three renewals", ZooKeeperTestSupport.SOON, () -> syncs(server.requests()) >= syncs(before) + 3);
            assertThat(writes(server.requests())).isEqualTo(writes(before));
            assertThat(ZooKeeperTestSupport.sent(server, before).keySet()).doesNotContain("create2", "multi", "delete");
            lock.acquire().close();
        }
    }

    private static long syncs(Map<String, Long> requests) {
        return requests.getOrDefault("sync", 0L);
    }

    /** Returns the number of renewals that were sent while a lock was held or waited for. */
    private static long writes(Map<String, Long> requests) {
        return requests.getOrDefault("check", 0L);
    }
}

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

/** The requests that each operation sends, as counted by the server. */
@Tag("once")
class ZooKeeperWireTest {
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
    void anUncontendedCycleIsCreateAndListPipelinedThenOneDelete() throws Exception {
        DistributedLock lock = client.named("wire");
        lock.acquire().close(); // the lock node is created once
        Map<String, Long> before;
        long start;
        long held;
        do { // a machine that stalls makes it a long hold
            before = server.requests();
            start = System.nanoTime();
            lock.acquire().close();
            held = System.nanoTime() - start;
        } while (held >= ZooKeeperContender.WATCH_OWN_NODE_AFTER.toNanos());
        long ticks = start
                + held
                + ZooKeeperContender.WATCH_OWN_NODE_AFTER.multipliedBy(3).toNanos();
        Await.until(
                "a deferred watch would be registered", ZooKeeperTestSupport.SOON, () -> System.nanoTime() - ticks > 0);
        assertThat(ZooKeeperTestSupport.sent(server, before))
                .isEqualTo(Map.of("create2", 1L, "getChildren", 1L, "delete", 1L));
    }

    @Test
    void S07_aLongerLeaseHasItsNodeWatchedByOneRequest() throws Exception {
        DistributedLock lock = client.named("while");
        lock.acquire().close();
        Map<String, Long> before = server.requests();
        Lease lease = lock.acquire();
        Await.until("its node is watched", ZooKeeperTestSupport.SOON, () -> server.watchCount() == 1);
        lease.close();
        assertThat(ZooKeeperTestSupport.sent(server, before))
                .isEqualTo(Map.of("create2", 1L, "getChildren", 1L, "getData", 1L, "delete", 1L));
    }

    @Test
    void S07_aLeaseWhoseNodeIsDeletedAtOnceIsNotifiedWithinASecond() throws Exception {
        ZooKeeper operator = ZooKeeperTestSupport.openHandle(server.connectString());
        try {
            Lease lease = client.named("at-once").acquire();
            operator.delete(ZooKeeperTestSupport.guard(lease).node(), -1);
            long start = System.nanoTime();
            assertThat(lease.lost().get(10, TimeUnit.SECONDS).kind()).isEqualTo(LossReason.Kind.REMOVED);
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(ZooKeeperTestSupport.WOKEN);
        } finally {
            operator.close();
        }
    }

    @Test
    void S09_aFailedTryIsOneRoundTripAndLeavesNoNode() throws Exception {
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
    void S11_twoHundredWaitersDrainWithTwoRequestsAHandOff() throws Exception {
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
            long asked = System.nanoTime();
            List<CompletableFuture<Void>> waiters = new ArrayList<>();
            for (int i = 0; i < clients * threads; i++) {
                waiters.add(all.get(i % clients).named("crowd").callAsync(lease -> {
                    assertThat(inside.incrementAndGet()).isEqualTo(1);
                    inside.decrementAndGet();
                    return CompletableFuture.completedFuture(null);
                }));
            }
            // Three watches each, two for the first, though the server counts those of one session on one node once.
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
            // On a slow machine each waiter may have listed by the fallback timer, every 5 s.
            long lists = (long) clients * threads * ((System.nanoTime() - asked) / 5_000_000_000L);
            // Its release and one list. A list that an event overtakes is repeated, now and then.
            assertThat((requests - lists) / (double) (clients * threads)).isLessThanOrEqualTo(2.1);
        } finally {
            all.forEach(LockClient::close);
        }
    }

    @Test
    void S07_aThousandHeldLocksNeedOneWritePerRenewalAndNoThreadEach() throws Exception {
        List<Lease> held = new ArrayList<>();
        try (LockClient short_ = ZooKeeperTestSupport.connectClient(server.connectString(), Duration.ofSeconds(5))) {
            for (int i = 0; i < 1000; i++) {
                held.add(short_.named("held/" + i).acquireAsync().get(10, TimeUnit.SECONDS));
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
            // Those of the holder, every 4 s, are among them.
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

    /** While nobody holds or waits, renewals cost the servers no disk. */
    @Test
    void S17_anIdleSessionWritesNothing() throws Exception {
        try (LockClient idle = ZooKeeperTestSupport.connectClient(server.connectString(), Duration.ofSeconds(2))) {
            DistributedLock lock = idle.named("before-idle");
            lock.acquire().close();
            String node = ZooKeeperTestSupport.lockNode("before-idle");
            ZooKeeper operator = ZooKeeperTestSupport.openHandle(server.connectString());
            try {
                Await.until("its node is deleted", ZooKeeperTestSupport.SOON, () -> {
                    try {
                        return operator.exists(node, false) == null;
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                });
            } finally {
                operator.close();
            }
            Map<String, Long> before = server.requests();
            Await.until(
                    "five renewals", ZooKeeperTestSupport.SOON, () -> syncs(server.requests()) >= syncs(before) + 5);
            assertThat(writes(server.requests())).isEqualTo(writes(before));
            assertThat(ZooKeeperTestSupport.sent(server, before).keySet()).doesNotContain("create2", "multi", "delete");
            lock.acquire().close();
        }
    }

    private static long syncs(Map<String, Long> requests) {
        return requests.getOrDefault("sync", 0L);
    }

    /** The renewals while a lock is held. */
    private static long writes(Map<String, Long> requests) {
        return requests.getOrDefault("check", 0L);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockException;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.connect.BackendClients;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import io.mortise.lock.spi.testing.ManualClock;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.testkit.proxy.TcpProxy;
import io.mortise.lock.zookeeper.queue.ZooKeeperContender;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests locks on a ZooKeeper handle that the application owns. */
@Tag("once")
class ApplicationHandleTest {
    private static ZooKeeperTestServer server;

    /** The handles that the application has opened, on which it has its own default watcher. */
    private final List<ZooKeeper> opened = new CopyOnWriteArrayList<>();

    private final Queue<WatchedEvent> defaultEvents = new ConcurrentLinkedQueue<>();

    @BeforeAll
    static void startServer() {
        server = ZooKeeperTestServer.start();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @AfterEach
    void closeHandles() throws Exception {
        for (ZooKeeper handle : opened) {
            handle.close();
        }
        assertThat(server.liveEphemerals()).isEmpty();
    }

    private ZooKeeper open(String connectString, int timeoutMillis) {
        try {
            ZooKeeper handle = new ZooKeeper(connectString, timeoutMillis, defaultEvents::add);
            opened.add(handle);
            return handle;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private ZooKeeper open() {
        return open(server.connectString(), 20_000);
    }

    /** Returns the open handle, or a new one if it is dead, as the supplier of an application does. */
    private synchronized ZooKeeper current() {
        ZooKeeper last = opened.isEmpty() ? null : opened.get(opened.size() - 1);
        return last != null && last.getState().isAlive() ? last : open();
    }

    private LockClient client() {
        return ZooKeeperLocks.connect(ZooKeeperOptions.using(this::current));
    }

    @Test
    void locksWorkAndTheHandleStaysOpen() throws Exception {
        ZooKeeper handle = open();
        try (LockClient client = client()) {
            try (Lease lease = client.named("n").acquire()) {
                assertThat(ZooKeeperTestSupport.fencingCondition(lease).zooKeeper())
                        .isSameAs(handle);
                assertThat(client.named("n").tryAcquire()).isEmpty();
                CompletableFuture<Lease> waiter = client.named("n").acquireAsync();
                ZooKeeperTestSupport.awaitWaiters(client, "n", 1);
                lease.release();
                waiter.get(10, TimeUnit.SECONDS).close();
            }
        }
        assertThat(handle.getState().isConnected()).isTrue();
        assertThat(handle.exists("/locks", false)).isNotNull();
        assertThat(opened).hasSize(1);
    }

    @Test
    void theTimeoutOfTheHandleIsUsed() throws Exception {
        open(server.connectString(), 9_000);
        try (LockClient client = client();
                Lease lease = client.named("n").acquire()) {
            assertThat(lease.remaining()).isBetween(Duration.ofSeconds(1), Duration.ofMillis(6_750));
        }
    }

    /** The first reply proves half of the timeout. A reply to a request sent a quarter later proves three quarters. */
    @Test
    void S02_theFirstLivenessCheckIsFollowedByExactlyOneExtraCheck() throws Exception {
        Duration timeout = Duration.ofSeconds(8);
        ZooKeeper handle = open(server.connectString(), Math.toIntExact(timeout.toMillis()));
        ManualClock clock = new ManualClock();
        try (LockClient client = BackendClients.open(
                        context -> ZooKeeperBackend.open(ZooKeeperOptions.using(() -> handle), context),
                        ClientOptions.defaults(),
                        clock);
                Lease lease = client.named("n").acquire()) {
            long checks = livenessChecks();
            Duration atFirst = lease.remaining();
            assertThat(atFirst).isLessThanOrEqualTo(timeout.dividedBy(2));
            clock.advance(timeout.dividedBy(5));
            awaitPendingReplies(client);
            assertThat(livenessChecks()).as("a regular renewal").isEqualTo(checks + 1);
            assertThat(lease.remaining()).as("the renewal proves nothing yet").isLessThan(atFirst);

            clock.advance(timeout.dividedBy(4).minus(timeout.dividedBy(5)).plusMillis(10));
            awaitPendingReplies(client);
            assertThat(livenessChecks()).as("the extra renewal").isEqualTo(checks + 2);
            assertThat(lease.remaining()).isGreaterThan(Duration.ofMillis(5_800));

            clock.advance(timeout.dividedBy(4));
            awaitPendingReplies(client);
            assertThat(livenessChecks()).as("only another regular renewal").isEqualTo(checks + 3);
        }
    }

    private static long livenessChecks() {
        return server.requests().getOrDefault("sync", 0L) + server.requests().getOrDefault("check", 0L);
    }

    /** Waits for the replies to all earlier requests: replies arrive in the order of the requests, on one thread. */
    private static void awaitPendingReplies(LockClient client) throws InterruptedException {
        client.named("another").acquire().close();
    }

    @Test
    void theDefaultWatcherKeepsItsEvents() throws Exception {
        ZooKeeper handle = open();
        try (LockClient client = client()) {
            Await.until(
                    "connected",
                    ZooKeeperTestSupport.SOON,
                    () -> defaultEvents.stream()
                            .anyMatch(event -> event.getState() == Watcher.Event.KeeperState.SyncConnected));
            ZooKeeperTestSupport.createPath(handle, "/mine");
            handle.getData("/mine", true, null);
            try (Lease lease = client.named("n").acquire()) {
                handle.setData("/mine", new byte[1], -1);
                Await.until(
                        "notified",
                        ZooKeeperTestSupport.SOON,
                        () -> defaultEvents.stream().anyMatch(event -> "/mine".equals(event.getPath())));
                assertThat(lease.isHeld()).isTrue();
            }
        }
        // The default watcher receives no event of Mortise's watches.
        assertThat(defaultEvents)
                .noneMatch(event -> event.getPath() != null && event.getPath().startsWith("/locks"));
    }

    @Test
    void S10_S16_noWatchAndNoNodeIsLeftAfterClose() throws Exception {
        ZooKeeper handle = open();
        try (LockClient client = client();
                LockClient other = client()) {
            Lease held = client.named("n").acquire();
            CompletableFuture<Lease> waiter = other.named("n").acquireAsync();
            ZooKeeperTestSupport.awaitWaiters(client, "n", 1);
            Lease released = client.named("m").acquire();
            released.close();
            assertThat(held.isHeld()).isTrue();
            assertThat(waiter).isNotDone();
        }
        Await.until(
                "no node is left",
                ZooKeeperTestSupport.SOON,
                () -> server.liveEphemerals().isEmpty());
        Await.until("no watch is left", ZooKeeperTestSupport.SOON, () -> server.watchCount() == 0);
        assertThat(handle.getState().isConnected()).isTrue();
        assertThat(handle.getChildren("/locks", false)).isEmpty(); // the deletions were sent earlier on the same handle
    }

    @Test
    void S10_watchesOfReleasedLocksDoNotPileUp() throws Exception {
        open();
        try (LockClient client = client()) {
            int watchesBefore = server.watchCount();
            for (int i = 0; i < 50; i++) {
                client.named("pile/" + i).acquire().close();
            }
            // Released at about the time when the deferred watch is registered, so that the two requests race.
            long earliest = ZooKeeperContender.WATCH_OWN_NODE_AFTER.toMillis();
            for (int round = 0; round < 5; round++) {
                List<CompletableFuture<ReleaseOutcome>> released = new ArrayList<>();
                for (int i = 0; i < 20; i++) {
                    long hold = ThreadLocalRandom.current().nextLong(earliest, earliest * 22 / 10);
                    Executor later = CompletableFuture.delayedExecutor(hold, TimeUnit.MILLISECONDS);
                    released.add(client.named("pile/" + i).acquireAsync().thenComposeAsync(Lease::releaseAsync, later));
                }
                for (CompletableFuture<ReleaseOutcome> each : released) {
                    assertThat(each.get(10, TimeUnit.SECONDS)).isEqualTo(ReleaseOutcome.RELEASED);
                }
            }
            Await.until(
                    "only the session's watch is left",
                    ZooKeeperTestSupport.SOON,
                    () -> server.watchCount() <= watchesBefore);
        }
        Await.until("no watch is left", ZooKeeperTestSupport.SOON, () -> server.watchCount() == 0);
    }

    @RepeatedTest(3)
    void S01_twoClientsOnOneHandleExcludeEachOther() throws Exception {
        open();
        AtomicInteger inside = new AtomicInteger();
        try (LockClient one = client();
                LockClient two = client()) {
            List<CompletableFuture<Boolean>> all = new ArrayList<>();
            for (int i = 0; i < 60; i++) {
                all.add((i % 2 == 0 ? one : two).named("both").callAsync(lease -> {
                    boolean alone = inside.incrementAndGet() == 1;
                    boolean held = lease.isHeld();
                    inside.decrementAndGet();
                    return CompletableFuture.completedFuture(alone && held);
                }));
            }
            for (CompletableFuture<Boolean> each : all) {
                assertThat(each.get(20, TimeUnit.SECONDS)).isTrue();
            }
            Lease lease = one.named("both").acquire();
            assertThat(two.named("both").tryAcquire()).isEmpty();
            one.close();
            assertThat(lease.isHeld()).isFalse();
            two.named("both").acquire().close(); // closing one client does not affect the other
        }
    }

    @Test
    void afterExpiryWaitersAndNewAcquiresUseANewHandle() throws Exception {
        ZooKeeper first = open();
        try (LockClient client = client();
                LockClient holder =
                        ZooKeeperTestSupport.connectClient(server.connectString(), Duration.ofSeconds(20))) {
            Lease lost = client.named("lost").acquire();
            Lease elsewhere = holder.named("n").acquire();
            CompletableFuture<Lease> waiter = client.named("n").acquireAsync();
            ZooKeeperTestSupport.awaitWaiters(holder, "n", 1);
            server.expireSession(first.getSessionId());
            assertLostWithItsSession(lost);
            ZooKeeperTestSupport.awaitWaiters(holder, "n", 1);
            elsewhere.close();
            try (Lease got = waiter.get(10, TimeUnit.SECONDS);
                    Lease again = client.named("lost").acquire()) {
                assertThat(ZooKeeperTestSupport.fencingCondition(got).zooKeeper())
                        .isNotSameAs(first);
                assertThat(again.fencingToken()).isGreaterThan(lost.fencingToken());
            }
            assertThat(lost.isHeld()).isFalse();
        }
        assertThat(opened).hasSize(2);
    }

    @Test
    void S07_theApplicationClosingItsHandleIsALoss() throws Exception {
        ZooKeeper handle = open();
        try (LockClient client = client()) {
            Lease lease = client.named("n").acquire();
            handle.close();
            assertLostWithItsSession(lease);
            client.named("n").acquire().close();
        }
        assertThat(opened).hasSize(2);
    }

    /** Either kind may be reported: the server deletes the session's nodes first, and may notify the client of that first. */
    private static void assertLostWithItsSession(Lease lease) throws Exception {
        assertThat(lease.lost().get(10, TimeUnit.SECONDS).kind())
                .isIn(LossReason.Kind.SESSION_ENDED, LossReason.Kind.REMOVED);
        assertThat(lease.isHeld()).isFalse();
    }

    @Test
    void aHandleThatIsClosedBeforeItConnectedFailsTheConnect() throws Exception {
        try (TcpProxy proxy = TcpProxy.to("127.0.0.1", server.port())) {
            proxy.blackHole();
            ZooKeeper never = open(proxy.address(), 3_000);
            CompletableFuture<Throwable> connect = CompletableFuture.supplyAsync(
                    () -> catchThrowable(() -> ZooKeeperLocks.connect(ZooKeeperOptions.using(() -> never))));
            proxy.cut();
            never.close();
            assertThat(connect.get(8, TimeUnit.SECONDS))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("handle");
        }
    }

    @Test
    void aDeadHandleIsReportedAtConnect() throws Exception {
        ZooKeeper dead = open();
        dead.close();
        long start = System.nanoTime();
        assertThatThrownBy(() -> ZooKeeperLocks.connect(ZooKeeperOptions.using(() -> dead)))
                .isInstanceOf(LockException.class)
                .hasMessageContainingAll("handle is CLOSED", "supplier");
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(ZooKeeperTestSupport.AT_ONCE);
    }

    @Test
    void S15_aSupplierThatKeepsReturningADeadHandleFailsTheWaitInTime() throws Exception {
        ZooKeeper only = open();
        AtomicInteger supplierCalls = new AtomicInteger();
        ClientOptions shortOutage = ClientOptions.defaults().unavailableAfter(Duration.ofSeconds(2));
        try (LockClient client = ZooKeeperLocks.connect(
                ZooKeeperOptions.using(() -> {
                    supplierCalls.incrementAndGet();
                    return only;
                }),
                shortOutage)) {
            server.expireSession(only.getSessionId());
            Await.until(
                    "the handle is dead",
                    ZooKeeperTestSupport.SOON,
                    () -> !only.getState().isAlive());
            long start = System.nanoTime();
            assertThatThrownBy(() -> client.named("n").acquire())
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContainingAll("handle is CLOSED", "supplier");
            assertThatThrownBy(() -> client.named("n").tryAcquire())
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("supplier");
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
            assertThat(supplierCalls).hasValueLessThan(60); // the client pauses between calls
            start = System.nanoTime();
            client.close();
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(ZooKeeperTestSupport.AT_ONCE);
        }
    }

    @Test
    void aSupplierThatReturnsNullOrThrowsIsReported() {
        assertThatThrownBy(() -> ZooKeeperLocks.connect(ZooKeeperOptions.using(() -> null)))
                .isInstanceOf(LockException.class)
                .hasMessageContaining("supplier");
        assertThatThrownBy(() -> ZooKeeperLocks.connect(ZooKeeperOptions.using(() -> {
                    throw new IllegalStateException("no luck");
                })))
                .isInstanceOf(LockException.class)
                .hasMessageContainingAll("supplier", "no luck");
    }

    /** The connection recovers after the deadline but before the session ends, so Mortise must delete the node. */
    @Test
    void S07_aLeaseLostByDeadlineOnALiveHandleLeavesNoNode() throws Exception {
        try (TcpProxy proxy = TcpProxy.to("127.0.0.1", server.port())) {
            ZooKeeper handle = open(proxy.address(), 12_000);
            try (LockClient client = client()) {
                Lease lease = client.named("n").acquire();
                String node = ZooKeeperTestSupport.fencingCondition(lease).node();
                proxy.blackHole();
                LossReason reason = lease.lost().get(12, TimeUnit.SECONDS);
                assertThat(reason.kind()).isEqualTo(LossReason.Kind.EXPIRED);
                assertThat(server.liveEphemerals()).contains(node);
                proxy.heal();
                Await.until(
                        "the node is removed",
                        ZooKeeperTestSupport.SOON,
                        () -> !server.liveEphemerals().contains(node));
                assertThat(server.sessions()).contains(handle.getSessionId());
                client.named("n").acquire().close();
                assertThat(lease.isHeld()).isFalse();
            }
        }
    }
}

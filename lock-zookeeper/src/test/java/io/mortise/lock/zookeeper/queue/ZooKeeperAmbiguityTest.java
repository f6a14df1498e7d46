// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.zookeeper.ZooKeeperLocks;
import io.mortise.lock.zookeeper.ZooKeeperTestSupport;
import io.mortise.lock.zookeeper.queue.RequestFaultProxy.Fault;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The connection breaks at each request that an operation sends, one after the other: the request lost, or executed and its
 * reply lost; and once more while the client recovers. Afterwards there is one grant at most, its token is its node's
 * czxid, no orphan is left, and the next client gets the lock at once.
 */
@Tag("once")
class ZooKeeperAmbiguityTest {
    /** Long enough that no renewal falls into a round. */
    private static final Duration SESSION = Duration.ofSeconds(40);

    /** ZooKeeper's client takes a second or two for each, all rounds do so at once, and the machine may stall. */
    private static final ClientOptions TWO_RECONNECTS =
            ClientOptions.defaults().requestTimeout(ZooKeeperTestSupport.SOON);

    private static final int ROUNDS_AT_ONCE = 26;
    /** More requests than any of the operations sends. */
    private static final int MAX_STEPS = 9;

    private final AtomicInteger count = new AtomicInteger();
    private final Set<String> broken = ConcurrentHashMap.newKeySet();
    private ZooKeeperTestServer server;
    private ZooKeeper operator;
    private LockClient other;

    /** One operation through the proxy on a lock of its own; whether the planned faults are due is up to the proxy. */
    private interface Operation {
        void run(LockClient client, RequestFaultProxy proxy, String lock, Runnable plan) throws Exception;
    }

    @BeforeEach
    void start() throws Exception {
        server = ZooKeeperTestServer.start();
        operator = ZooKeeperTestSupport.openHandle(server.connectString());
        ZooKeeperTestSupport.createPath(
                operator, "/locks"); // otherwise any client might create it, and each request for that is a step
        other = ZooKeeperTestSupport.connectClient(server.connectString(), SESSION);
    }

    @AfterEach
    void stop() throws Exception {
        try {
            Await.until("no watch is left", ZooKeeperTestSupport.SOON, () -> server.watchCount() == 0);
            assertThat(server.liveEphemerals()).isEmpty();
        } finally {
            other.close();
            operator.close();
            server.close();
        }
    }

    @Test
    void S05_S08_uncontendedAcquireAndRelease() throws Exception {
        everyStep(Set.of("multi", "create2", "getChildren", "delete", "sync"), (client, proxy, lock, plan) -> {
            plan.run();
            Lease lease = client.named(lock).acquire();
            // at once: the watch of a longer lease would be a step before the release
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        });
    }

    /** Until the request that watches its node has been sent, and broken where that is the step. */
    @Test
    void S05_S07_leaseHeldForAWhile() throws Exception {
        everyStep(Set.of("getData", "delete"), (client, proxy, lock, plan) -> {
            long start = System.nanoTime();
            Lease lease = client.named(lock).acquire();
            plan.run();
            boolean inTime = System.nanoTime() - start < ZooKeeperContender.WATCH_OWN_NODE_AFTER.toNanos();
            // On a machine that stalled it may have been sent before the plan, which counts from itself on.
            boolean sent = Await.holdsWithin(
                    inTime ? ZooKeeperTestSupport.SOON : ZooKeeperContender.WATCH_OWN_NODE_AFTER.multipliedBy(5),
                    () -> proxy.toString().contains("getData"));
            assertThat(sent || !inTime).as("its node is watched").isTrue();
            checkGrant(lease);
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        });
    }

    @Test
    void S08_contendedAcquire() throws Exception {
        everyStep(Set.of("create2", "getChildren", "getData", "delete", "sync"), (client, proxy, lock, plan) -> {
            Lease holder = other.named(lock).acquire();
            plan.run();
            CompletableFuture<Lease> waiter = client.named(lock).acquireAsync();
            awaitWatch(proxy);
            holder.close();
            Lease lease = waiter.get(ZooKeeperTestSupport.SOON.toSeconds(), TimeUnit.SECONDS);
            checkGrant(lease);
            assertThat(lease.fencingToken()).isGreaterThan(holder.fencingToken());
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        });
    }

    @Test
    void S08_waiterWithAnotherOneBetween() throws Exception {
        everyStep(Set.of("create2", "getChildren", "getData", "delete", "sync"), (client, proxy, lock, plan) -> {
            Lease holder = other.named(lock).acquire();
            CompletableFuture<Lease> between = other.named(lock).acquireAsync();
            ZooKeeperTestSupport.awaitNodes(operator, lock, 2);
            plan.run();
            CompletableFuture<Lease> waiter = client.named(lock).acquireAsync();
            awaitWatch(proxy);
            between.cancel(true);
            ZooKeeperTestSupport.awaitNodes(operator, lock, 2);
            holder.close();
            Lease lease = waiter.get(ZooKeeperTestSupport.SOON.toSeconds(), TimeUnit.SECONDS);
            checkGrant(lease);
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        });
    }

    @Test
    void S08_S09_failedTry() throws Exception {
        everyStep(Set.of("create2", "getChildren", "delete"), (client, proxy, lock, plan) -> {
            Lease holder = other.named(lock).acquire();
            plan.run();
            try {
                assertThat(client.named(lock).tryAcquire()).isEmpty();
            } catch (BackendUnavailableException e) {
                assertThat(e).hasMessageContaining(proxy.connectString()); // reported as such, not as busy
            }
            assertAlone(holder);
        });
    }

    @Test
    void S08_S10_cancelledWaiter() throws Exception {
        everyStep(Set.of("create2", "getChildren", "getData", "delete"), (client, proxy, lock, plan) -> {
            Lease holder = other.named(lock).acquire();
            plan.run();
            CompletableFuture<Lease> waiter = client.named(lock).acquireAsync();
            awaitWatch(proxy);
            cancel(waiter, holder);
        });
    }

    /** Which step it has reached by then is a race. */
    @Test
    void S08_S10_waiterCancelledAtOnce() throws Exception {
        everyStep(Set.of(), (client, proxy, lock, plan) -> {
            Lease holder = other.named(lock).acquire();
            plan.run();
            cancel(client.named(lock).acquireAsync(), holder);
        });
    }

    private void cancel(CompletableFuture<Lease> waiter, Lease holder) throws Exception {
        waiter.cancel(true);
        assertAlone(holder);
    }

    @Test
    void S08_S10_interruptedWaiter() throws Exception {
        everyStep(Set.of("create2", "getChildren", "getData", "delete"), (client, proxy, lock, plan) -> {
            Lease holder = other.named(lock).acquire();
            plan.run();
            Blocked waiter = new Blocked(client.named(lock));
            awaitWatch(proxy);
            interrupt(waiter, holder);
        });
    }

    @Test
    void S08_S10_waiterInterruptedAtOnce() throws Exception {
        everyStep(Set.of(), (client, proxy, lock, plan) -> {
            Lease holder = other.named(lock).acquire();
            plan.run();
            interrupt(new Blocked(client.named(lock)), holder);
        });
    }

    /** Checks that soon nobody else is queued and the lease is held as before, and releases it. */
    private void assertAlone(Lease holder) throws Exception {
        ZooKeeperTestSupport.awaitNodes(operator, holder.lockName(), 1);
        checkGrant(holder);
        holder.close();
    }

    /** Waits until the request that watches the predecessor has been sent, and broken if that is the step. */
    private static void awaitWatch(RequestFaultProxy proxy) {
        Await.until(
                "it watches its predecessor",
                ZooKeeperTestSupport.SOON,
                () -> proxy.toString().contains("getData"));
    }

    /** A thread that blocks in an acquire until it is interrupted. */
    private static final class Blocked {
        private final CompletableFuture<Object> outcome = new CompletableFuture<>();
        private final Thread thread;

        Blocked(DistributedLock lock) {
            thread = new Thread(() -> {
                try {
                    outcome.complete(lock.acquire());
                } catch (Exception e) {
                    outcome.complete(e);
                }
            });
            thread.start();
        }
    }

    private void interrupt(Blocked waiter, Lease holder) throws Exception {
        waiter.thread.interrupt();
        assertThat(ZooKeeperTestSupport.woken(waiter.outcome)).isInstanceOf(InterruptedException.class);
        assertAlone(holder);
    }

    @Test
    void S05_release() throws Exception {
        everyStep(Set.of("delete"), (client, proxy, lock, plan) -> {
            DistributedLock named = client.named(lock);
            Lease lease = named.acquire();
            plan.run();
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        });
    }

    @Test
    void S14_aRefusalIsNotAnUnknownOutcome() throws Exception {
        operator.create("/closed", new byte[0], ZooKeeperTestSupport.READ_ONLY, CreateMode.PERSISTENT);
        try (LockClient refused = ZooKeeperLocks.connect(
                ZooKeeperTestSupport.options(server.connectString(), SESSION).basePath("/closed"))) {
            assertThatThrownBy(() -> refused.named("x").acquire()).hasMessageContaining("NOAUTH");
        }
    }

    private void everyStep(Set<String> steps, Operation operation) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(ROUNDS_AT_ONCE);
        try {
            List<Future<?>> rounds = new ArrayList<>();
            for (Fault fault : Fault.values()) {
                for (int step = 1; step <= MAX_STEPS; step++) {
                    int at = step;
                    rounds.add(pool.submit(() -> round(operation, at, fault, 0)));
                }
                // Once more during the recovery: the lost create, then each step of the search.
                for (int again = 1; again <= 4; again++) {
                    int second = again;
                    rounds.add(pool.submit(() -> round(operation, 1, Fault.REPLY_LOST, second)));
                }
            }
            for (Future<?> round : rounds) {
                round.get(60, TimeUnit.SECONDS);
            }
            assertThat(broken).containsAll(steps);
        } finally {
            pool.shutdownNow();
        }
    }

    private Void round(Operation operation, int step, Fault fault, int second) throws Exception {
        String lock = "step" + count.incrementAndGet();
        try (RequestFaultProxy proxy = new RequestFaultProxy(server.port());
                LockClient client = ZooKeeperLocks.connect(
                        ZooKeeperTestSupport.options(proxy.connectString(), SESSION), TWO_RECONNECTS)) {
            try {
                operation.run(client, proxy, lock, () -> {
                    proxy.failAt(step, fault);
                    if (second > 0) {
                        proxy.thenAt(second, fault);
                    }
                });
                ZooKeeperTestSupport.awaitNodes(operator, lock, 0);
                proxy.cancelFaults();
                broken.addAll(proxy.broken());
                long start = System.nanoTime();
                Lease next = other.named(lock).acquire();
                assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(ZooKeeperTestSupport.WOKEN);
                checkGrant(next);
                next.close();
                // Whatever the client still had to send goes before this.
                client.named(lock).acquire().close();
                assertThat(ZooKeeperTestSupport.queue(operator, lock)).isEmpty();
            } catch (Exception | AssertionError e) {
                String where = lock + ": " + fault + " at step " + step + ", then " + second + ", requests " + proxy;
                throw new AssertionError(where + ": " + e, e);
            }
        }
        return null;
    }

    /** Checks that the lease belongs to the head of the queue, with the token of its node. */
    private void checkGrant(Lease lease) throws Exception {
        assertThat(lease.isHeld()).isTrue();
        List<String> queue = ZooKeeperTestSupport.queue(operator, lease.lockName());
        assertThat(operator.exists(queue.get(0), false).getCzxid()).isEqualTo(lease.fencingToken());
    }
}

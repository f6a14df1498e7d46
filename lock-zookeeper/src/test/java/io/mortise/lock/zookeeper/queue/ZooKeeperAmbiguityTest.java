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
 * Tests lost requests and lost replies at each request that an operation sends.
 *
 * <p>In each round the connection breaks at another request, which either is lost or is executed and loses its reply. Some
 * rounds break the connection once more while the client recovers. Afterwards at most one grant exists, its token is its node's
 * czxid, no orphan remains, and the next client gets the lock at once. The exploration has the same faults, so most of these
 * tests are part of the long run.
 */
@Tag("once")
class ZooKeeperAmbiguityTest {
    /** Long enough that no renewal is due during a round. */
    private static final Duration SESSION = Duration.ofSeconds(40);

    /** Long enough for two reconnects of one or two seconds each, in all rounds at once and on a machine that may stall. */
    private static final ClientOptions TWO_RECONNECTS =
            ClientOptions.defaults().requestTimeout(ZooKeeperTestSupport.SOON);

    private static final int ROUNDS_AT_ONCE = 26;
    /** A step beyond the last request of every operation. */
    private static final int MAX_STEPS = 9;

    private final AtomicInteger count = new AtomicInteger();
    private final Set<String> faultedRequests = ConcurrentHashMap.newKeySet();
    private ZooKeeperTestServer server;
    private ZooKeeper operator;
    private LockClient other;

    /** An operation that runs through the proxy on a separate lock. */
    private interface Operation {
        /**
         * Runs the operation.
         *
         * @param plan plans the faults of the round; called before the first request that may break
         */
        void run(LockClient client, RequestFaultProxy proxy, String lock, Runnable plan) throws Exception;
    }

    @BeforeEach
    void start() throws Exception {
        server = ZooKeeperTestServer.start();
        operator = ZooKeeperTestSupport.openHandle(server.connectString());
        // Otherwise any client might create the base path, and each request for that would be a step.
        ZooKeeperTestSupport.createPath(operator, "/locks");
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

    @Tag("long")
    @Test
    void S05_S08_anUncontendedAcquireAndReleaseSurviveEachFault() throws Exception {
        everyStep(Set.of("multi", "create2", "getChildren", "delete"), (client, proxy, lock, plan) -> {
            plan.run();
            Lease lease = client.named(lock).acquire();
            // released at once, since the watch of a longer lease would be a step before the release
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        });
    }

    /** The lease is held until the request that watches its node has been sent, and has failed if that is the step. */
    @Tag("long")
    @Test
    void S05_S07_aLongerLeaseSurvivesEachFault() throws Exception {
        everyStep(Set.of("getData", "delete"), (client, proxy, lock, plan) -> {
            long start = System.nanoTime();
            Lease lease = client.named(lock).acquire();
            plan.run();
            boolean inTime = System.nanoTime() - start < ZooKeeperContender.WATCH_OWN_NODE_AFTER.toNanos();
            // If this machine stalled, the request may have been sent before the faults were planned, so that it is not
            // counted.

            boolean sent = Await.holdsWithin(
                    inTime ? ZooKeeperTestSupport.SOON : ZooKeeperContender.WATCH_OWN_NODE_AFTER.multipliedBy(5),
                    () -> proxy.toString().contains("getData"));
            assertThat(sent || !inTime).as("the lease's node is watched").isTrue();
            checkGrant(lease);
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        });
    }

    @Test
    void S08_aContendedAcquireSurvivesEachFault() throws Exception {
        everyStep(Set.of("create2", "getChildren", "getData", "delete", "multi"), (client, proxy, lock, plan) -> {
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

    @Tag("long")
    @Test
    void S08_aWaiterBehindAWithdrawnWaiterSurvivesEachFault() throws Exception {
        everyStep(Set.of("create2", "getChildren", "getData", "delete", "multi"), (client, proxy, lock, plan) -> {
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

    @Tag("long")
    @Test
    void S08_S09_aFailedTryAcquireLeavesNoNodeAfterAnyFault() throws Exception {
        everyStep(Set.of("create2", "getChildren", "delete"), (client, proxy, lock, plan) -> {
            Lease holder = other.named(lock).acquire();
            plan.run();
            try {
                assertThat(client.named(lock).tryAcquire()).isEmpty();
            } catch (BackendUnavailableException e) {
                assertThat(e)
                        .hasMessageContaining(proxy.connectString()); // an outage may be reported, but not as "busy"
            }
            assertAloneAndRelease(holder);
        });
    }

    @Tag("long")
    @Test
    void S08_S10_aCancelledWaiterLeavesNoNodeAfterAnyFault() throws Exception {
        everyStep(Set.of("create2", "getChildren", "getData", "delete"), (client, proxy, lock, plan) -> {
            Lease holder = other.named(lock).acquire();
            plan.run();
            CompletableFuture<Lease> waiter = client.named(lock).acquireAsync();
            awaitWatch(proxy);
            cancel(waiter, holder);
        });
    }

    /** The cancellation races with the steps of the acquire. */
    @Tag("long")
    @Test
    void S08_S10_aWaiterCancelledAtOnceLeavesNoNodeAfterAnyFault() throws Exception {
        everyStep(Set.of(), (client, proxy, lock, plan) -> {
            Lease holder = other.named(lock).acquire();
            plan.run();
            cancel(client.named(lock).acquireAsync(), holder);
        });
    }

    private void cancel(CompletableFuture<Lease> waiter, Lease holder) throws Exception {
        waiter.cancel(true);
        assertAloneAndRelease(holder);
    }

    @Tag("long")
    @Test
    void S08_S10_anInterruptedWaiterLeavesNoNodeAfterAnyFault() throws Exception {
        everyStep(Set.of("create2", "getChildren", "getData", "delete"), (client, proxy, lock, plan) -> {
            Lease holder = other.named(lock).acquire();
            plan.run();
            BlockedAcquire waiter = new BlockedAcquire(client.named(lock));
            awaitWatch(proxy);
            interrupt(waiter, holder);
        });
    }

    @Tag("long")
    @Test
    void S08_S10_aWaiterInterruptedAtOnceLeavesNoNodeAfterAnyFault() throws Exception {
        everyStep(Set.of(), (client, proxy, lock, plan) -> {
            Lease holder = other.named(lock).acquire();
            plan.run();
            interrupt(new BlockedAcquire(client.named(lock)), holder);
        });
    }

    /** Checks that no other contender stays queued and that the lease is still held, and then releases the lease. */
    private void assertAloneAndRelease(Lease holder) throws Exception {
        ZooKeeperTestSupport.awaitNodes(operator, holder.lockName(), 1);
        checkGrant(holder);
        holder.close();
    }

    /** Waits until the request that watches the predecessor has been sent, and has failed if that is the step. */
    private static void awaitWatch(RequestFaultProxy proxy) {
        Await.until(
                "the waiter watches its predecessor",
                ZooKeeperTestSupport.SOON,
                () -> proxy.toString().contains("getData"));
    }

    /** A thread that blocks in an acquire until it is interrupted. */
    private static final class BlockedAcquire {
        private final CompletableFuture<Object> outcome = new CompletableFuture<>();
        private final Thread thread;

        BlockedAcquire(DistributedLock lock) {
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

    private void interrupt(BlockedAcquire waiter, Lease holder) throws Exception {
        waiter.thread.interrupt();
        assertThat(ZooKeeperTestSupport.woken(waiter.outcome)).isInstanceOf(InterruptedException.class);
        assertAloneAndRelease(holder);
    }

    @Test
    void S05_aReleaseSurvivesEachFault() throws Exception {
        everyStep(Set.of("delete"), (client, proxy, lock, plan) -> {
            DistributedLock named = client.named(lock);
            Lease lease = named.acquire();
            plan.run();
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        });
    }

    @Test
    void S14_aRefusedAcquireIsNotAnUnknownOutcome() throws Exception {
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
                // In these rounds the reply to the create is lost, and then one step of the recovery fails.
                for (int again = 1; again <= 4; again++) {
                    int second = again;
                    rounds.add(pool.submit(() -> round(operation, 1, Fault.REPLY_LOST, second)));
                }
            }
            for (Future<?> round : rounds) {
                round.get(60, TimeUnit.SECONDS);
            }
            assertThat(faultedRequests).containsAll(steps);
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
                        proxy.thenFailAt(second, fault);
                    }
                });
                ZooKeeperTestSupport.awaitNodes(operator, lock, 0);
                proxy.cancelFaults();
                faultedRequests.addAll(proxy.faultedRequests());
                long start = System.nanoTime();
                Lease next = other.named(lock).acquire();
                assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(ZooKeeperTestSupport.WOKEN);
                checkGrant(next);
                next.close();
                // Any requests that the client still had to send are sent before this acquire.
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

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import io.mortise.lock.testkit.proxy.TcpProxy;
import io.mortise.lock.zookeeper.ZooKeeperFencingCondition;
import io.mortise.lock.zookeeper.ZooKeeperTestSupport;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.locks.LockSupport;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tests exclusion and fencing tokens under contention while faults occur at random times.
 *
 * <p>Each holder writes its token to a data node of the lock, in one transaction that also checks that the holder's node
 * exists. In the server's order of writes, tokens must never decrease. A grant to a contender that is not the head of the queue
 * would write an older token after a newer one, or a newer token before an older one.
 */
@Tag("once")
@Tag("long")
class ZooKeeperChaosTest {
    private static final Logger log = LoggerFactory.getLogger(ZooKeeperChaosTest.class);
    private static final Duration SESSION = Duration.ofSeconds(20);
    private static final Duration TEST_DURATION = Duration.ofSeconds(3);
    private static final int CLIENTS = 3;
    private static final int LOCKS = 5;
    private static final int THREADS = 2;
    /** The number of waiters of each client in the tests with a deep queue. */
    private static final int DEEP_QUEUE_THREADS = 12;

    private record Write(long zxid, long token) {}

    /**
     * The resource that a lock protects.
     *
     * @param inside the number of threads that hold the lock
     * @param released the time of the last release of the lock, in nanoseconds
     */
    private record Resource(String lock, Queue<Write> writes, AtomicInteger inside, AtomicLong released) {}

    private final List<Resource> resources = new ArrayList<>();
    private final Set<String> violations = ConcurrentHashMap.newKeySet();
    private final AtomicInteger grants = new AtomicInteger();
    private final AtomicInteger withdrawals = new AtomicInteger();
    private final LongAccumulator longestIdle = new LongAccumulator(Math::max, 0);
    private final List<TcpProxy> proxies = new ArrayList<>();
    private final List<LockClient> clients = new ArrayList<>();
    private ZooKeeperTestServer server;
    private ZooKeeper operator;
    private volatile boolean stopping;

    @BeforeEach
    void start() throws Exception {
        server = ZooKeeperTestServer.start();
        operator = ZooKeeperTestSupport.openHandle(server.connectString());
        for (int i = 0; i < CLIENTS; i++) {
            TcpProxy proxy = TcpProxy.to("127.0.0.1", server.port());
            proxies.add(proxy);
            clients.add(ZooKeeperTestSupport.connectClient(proxy.address(), SESSION));
        }
        for (int i = 0; i < LOCKS; i++) {
            resources.add(
                    new Resource("chaos" + i, new ConcurrentLinkedQueue<>(), new AtomicInteger(), new AtomicLong()));
            operator.create("/chaos" + i, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        }
    }

    @AfterEach
    void stop() throws Exception {
        clients.forEach(LockClient::close);
        try {
            assertThat(server.liveEphemerals()).isEmpty();
        } finally {
            operator.close();
            proxies.forEach(TcpProxy::close);
            server.close();
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void S01_S03_exclusionHoldsWhileAnOperatorDeletesWaitersAndConnectionsAreReset(long seed) throws Exception {
        Random random = new Random(seed);
        contend(seed, LOCKS, THREADS, true, () -> {
            if (random.nextInt(4) == 0) {
                proxies.get(random.nextInt(CLIENTS)).resetConnections();
            }
            deleteAWaiter(resources.get(random.nextInt(LOCKS)).lock, random);
            LockSupport.parkNanos(random.nextInt(60) * 1_000_000L);
        });
    }

    @ParameterizedTest
    @ValueSource(longs = {3, 4})
    void S01_S03_exclusionHoldsWhileSessionsExpire(long seed) throws Exception {
        Random random = new Random(seed);
        contend(seed, LOCKS, THREADS, false, () -> {
            List<Long> victims = new ArrayList<>(server.sessions());
            victims.remove(operator.getSessionId());
            if (!victims.isEmpty()) {
                server.expireSession(victims.get(random.nextInt(victims.size())));
            }
            LockSupport.parkNanos((100 + random.nextInt(500)) * 1_000_000L);
        });
    }

    /** Predecessors withdraw, are deleted and are granted the lock in any order, while clients reconnect. */
    @ParameterizedTest
    @ValueSource(longs = {5, 6})
    void S01_S03_exclusionHoldsInADeepQueueWithWithdrawalsAndReconnects(long seed) throws Exception {
        Random random = new Random(seed);
        contend(seed, 1, DEEP_QUEUE_THREADS, true, () -> {
            if (random.nextInt(30) == 0) {
                proxies.get(random.nextInt(CLIENTS)).resetConnections();
            }
            deleteAWaiter(resources.get(0).lock, random);
            LockSupport.parkNanos(random.nextInt(40) * 1_000_000L);
        });
        assertThat(withdrawals).hasPositiveValue();
    }

    @ParameterizedTest
    @ValueSource(longs = {7, 8})
    void S11_aDeepQueueWithWithdrawalsNeverWaitsForTheFallbackTimer(long seed) throws Exception {
        Random random = new Random(seed);
        contend(seed, 1, DEEP_QUEUE_THREADS, true, () -> {
            deleteAWaiter(resources.get(0).lock, random);
            LockSupport.parkNanos(random.nextInt(40) * 1_000_000L);
        });
        assertThat(withdrawals).hasPositiveValue();
        assertThat(Duration.ofNanos(longestIdle.get()))
                .as("no client held the lock though all waited for it")
                .isLessThan(Duration.ofSeconds(4));
    }

    /** Deletes a node that is certainly not the holder's: the transaction checks that the head of the queue still exists. */
    private void deleteAWaiter(String lock, Random random) {
        List<String> queue = ZooKeeperTestSupport.queue(operator, lock);
        if (queue.size() < 2) {
            return;
        }
        try {
            operator.multi(List.of(
                    Op.check(queue.get(0), -1), Op.delete(queue.get(1 + random.nextInt(queue.size() - 1)), -1)));
        } catch (KeeperException e) {
            log.debug("event=queue-moved cause=\"{}\"", e.getMessage());
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void contend(long seed, int locks, int threads, boolean sessionsSurvive, Runnable fault) throws Exception {
        ExecutorService pool = Executors.newCachedThreadPool();
        try {
            List<Future<?>> workers = new ArrayList<>();
            for (int i = 0; i < CLIENTS * locks * threads; i++) {
                LockClient client = clients.get(i % CLIENTS);
                Resource resource = resources.get(i / CLIENTS % locks);
                Random random = new Random(seed * 1_000 + i);
                workers.add(pool.submit(() -> {
                    while (!stopping) {
                        if (random.nextInt(4) == 0) {
                            withdraw(client, resource, random);
                        } else {
                            hold(client, resource, sessionsSurvive);
                        }
                    }
                    return null;
                }));
            }
            long start = System.nanoTime();
            while (System.nanoTime() - start < TEST_DURATION.toNanos()) {
                fault.run();
            }
            stopping = true;
            for (Future<?> worker : workers) {
                worker.get(20, TimeUnit.SECONDS); // fails if a worker waits for a lock that no client holds
            }
        } finally {
            stopping = true;
            pool.shutdownNow();
        }
        int written = 0;
        for (Resource resource : resources) {
            Map<Long, Long> inOrder = new TreeMap<>();
            resource.writes.forEach(write -> inOrder.put(write.zxid, write.token));
            assertThat(List.copyOf(inOrder.values()))
                    .as(resource.lock)
                    .isSorted()
                    .doesNotHaveDuplicates();
            written += inOrder.size();
        }
        log.info(
                "event=figures grants={} withdrawals={} longest_idle_ms={} writes={} violations={}",
                grants.get(),
                withdrawals.get(),
                longestIdle.get() / 1_000_000,
                written,
                violations.size());
        assertThat(violations).isEmpty();
        assertThat(written).isGreaterThan(CLIENTS * LOCKS);
    }

    /** Cancels an acquire after a random time. If the lock was granted before, the lease is released unused. */
    private void withdraw(LockClient client, Resource resource, Random random) throws Exception {
        CompletableFuture<Lease> waiter = client.named(resource.lock).acquireAsync();
        LockSupport.parkNanos(random.nextInt(30) * 1_000_000L);
        if (waiter.cancel(true)) {
            withdrawals.incrementAndGet();
        } else {
            granted(resource);
            waiter.get().release();
            resource.released.set(System.nanoTime());
        }
    }

    private void granted(Resource resource) {
        long released = resource.released.get();
        if (released != 0) {
            longestIdle.accumulate(System.nanoTime() - released);
        }
    }

    private void hold(LockClient client, Resource resource, boolean sessionsSurvive) throws Exception {
        Lease lease = client.named(resource.lock).acquireAsync().get(15, TimeUnit.SECONDS);
        granted(resource);
        grants.incrementAndGet();
        if (resource.inside.incrementAndGet() > 1 && sessionsSurvive) {
            violations.add(resource.lock + ": two leases at once, one with token " + lease.fencingToken());
        }
        try {
            check(lease, sessionsSurvive);
            write(lease).ifPresent(zxid -> resource.writes.add(new Write(zxid, lease.fencingToken())));
        } finally {
            resource.inside.decrementAndGet();
            lease.release();
            resource.released.set(System.nanoTime());
        }
    }

    /**
     * Checks by a synced read that the holder's node is the head of the queue. The node may be missing if sessions expire,
     * since the server deletes it before the client is notified.
     */
    private void check(Lease lease, boolean sessionsSurvive) {
        String node =
                lease.unwrap(ZooKeeperFencingCondition.class).orElseThrow().node();
        List<String> queue = ZooKeeperTestSupport.queue(operator, lease.lockName());
        if ((sessionsSurvive || queue.contains(node)) && queue.indexOf(node) != 0) {
            violations.add(lease.lockName() + ": granted to " + node + ", but the queue is " + queue);
        }
    }

    private static Optional<Long> write(Lease lease) throws InterruptedException {
        ZooKeeperFencingCondition condition =
                lease.unwrap(ZooKeeperFencingCondition.class).orElseThrow();
        byte[] token = Long.toString(lease.fencingToken()).getBytes(StandardCharsets.UTF_8);
        try {
            List<OpResult> results = condition
                    .zooKeeper()
                    .multi(List.of(condition.check(), Op.setData("/" + lease.lockName(), token, -1)));
            return Optional.of(
                    ((OpResult.SetDataResult) results.get(1)).getStat().getMzxid());
        } catch (KeeperException e) {
            return Optional.empty();
        }
    }
}

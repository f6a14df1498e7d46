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
 * Contention while faults come at random moments. Each holder writes its token to a node of the lock's, in one transaction
 * with the check that its own node is there: in the store's order of writes, tokens never fall. A grant to a contender that is not the
 * head of the queue would write an older token after a newer one, or a newer before an older.
 */
@Tag("once")
class ZooKeeperChaosTest {
    private static final Logger log = LoggerFactory.getLogger(ZooKeeperChaosTest.class);
    private static final Duration SESSION = Duration.ofSeconds(20);
    private static final Duration LASTS = Duration.ofSeconds(3);
    private static final int CLIENTS = 3;
    private static final int LOCKS = 5;
    private static final int THREADS = 2;
    /** How many waiters each client has where the queue is deep. */
    private static final int CROWD = 12;

    private record Write(long zxid, long token) {}

    /** What a lock protects; when it was last released. */
    private record Resource(String lock, Queue<Write> writes, AtomicInteger inside, AtomicLong freed) {}

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
    void S01_S03_operatorDeletesWaitersWhileConnectionsAreReset(long seed) throws Exception {
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
    void S01_S03_sessionsExpireAtRandomMoments(long seed) throws Exception {
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

    /** Those ahead withdraw, are deleted and granted in any order, while connections come and go. */
    @ParameterizedTest
    @ValueSource(longs = {5, 6})
    void S01_S03_deepQueueWithWithdrawalsWhileConnectionsAreReset(long seed) throws Exception {
        Random random = new Random(seed);
        contend(seed, 1, CROWD, true, () -> {
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
    void S11_deepQueueWithWithdrawalsNeverWaitsForTheFallbackTimer(long seed) throws Exception {
        Random random = new Random(seed);
        contend(seed, 1, CROWD, true, () -> {
            deleteAWaiter(resources.get(0).lock, random);
            LockSupport.parkNanos(random.nextInt(40) * 1_000_000L);
        });
        assertThat(withdrawals).hasPositiveValue();
        assertThat(Duration.ofNanos(longestIdle.get()))
                .as("nobody had the lock though all wanted it")
                .isLessThan(Duration.ofSeconds(4));
    }

    /** Only one that is certainly not the holder: the head of the queue still exists in the same transaction. */
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

    private void contend(long seed, int locks, int threads, boolean sessionsLast, Runnable fault) throws Exception {
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
                            hold(client, resource, sessionsLast);
                        }
                    }
                    return null;
                }));
            }
            long start = System.nanoTime();
            while (System.nanoTime() - start < LASTS.toNanos()) {
                fault.run();
            }
            stopping = true;
            for (Future<?> worker : workers) {
                worker.get(20, TimeUnit.SECONDS); // nobody waits for what nobody holds
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

    /** Its grant may come first; then it is released unused. */
    private void withdraw(LockClient client, Resource resource, Random random) throws Exception {
        CompletableFuture<Lease> waiter = client.named(resource.lock).acquireAsync();
        LockSupport.parkNanos(random.nextInt(30) * 1_000_000L);
        if (waiter.cancel(true)) {
            withdrawals.incrementAndGet();
        } else {
            granted(resource);
            waiter.get().release();
            resource.freed.set(System.nanoTime());
        }
    }

    private void granted(Resource resource) {
        long freed = resource.freed.get();
        if (freed != 0) {
            longestIdle.accumulate(System.nanoTime() - freed);
        }
    }

    private void hold(LockClient client, Resource resource, boolean sessionsLast) throws Exception {
        Lease lease = client.named(resource.lock).acquireAsync().get(15, TimeUnit.SECONDS);
        granted(resource);
        grants.incrementAndGet();
        if (resource.inside.incrementAndGet() > 1 && sessionsLast) {
            violations.add(resource.lock + ": two leases at once, one with token " + lease.fencingToken());
        }
        try {
            check(lease, sessionsLast);
            write(lease).ifPresent(zxid -> resource.writes.add(new Write(zxid, lease.fencingToken())));
        } finally {
            resource.inside.decrementAndGet();
            lease.release();
            resource.freed.set(System.nanoTime());
        }
    }

    /** A synced read: the holder's node is the head of the queue. That of an expired session is deleted before its client knows. */
    private void check(Lease lease, boolean sessionsLast) {
        String node =
                lease.unwrap(ZooKeeperFencingCondition.class).orElseThrow().node();
        List<String> queue = ZooKeeperTestSupport.queue(operator, lease.lockName());
        if ((sessionsLast || queue.contains(node)) && queue.indexOf(node) != 0) {
            violations.add(lease.lockName() + ": granted to " + node + ", but the queue is " + queue);
        }
    }

    private static Optional<Long> write(Lease lease) throws InterruptedException {
        ZooKeeperFencingCondition guard =
                lease.unwrap(ZooKeeperFencingCondition.class).orElseThrow();
        byte[] token = Long.toString(lease.fencingToken()).getBytes(StandardCharsets.UTF_8);
        try {
            List<OpResult> done =
                    guard.zooKeeper().multi(List.of(guard.check(), Op.setData("/" + lease.lockName(), token, -1)));
            return Optional.of(((OpResult.SetDataResult) done.get(1)).getStat().getMzxid());
        } catch (KeeperException e) {
            return Optional.empty();
        }
    }
}

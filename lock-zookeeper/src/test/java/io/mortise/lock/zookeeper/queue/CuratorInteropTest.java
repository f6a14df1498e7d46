// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockStatus;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.zookeeper.ZooKeeperLocks;
import io.mortise.lock.zookeeper.ZooKeeperTestSupport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that a Mortise lock and Curator's mutex on the same path exclude and wake each other. */
@Tag("once")
class CuratorInteropTest {
    private static final String BASE = "/shared/locks";

    private static ZooKeeperTestServer server;
    private static LockClient client;
    private static CuratorFramework curator;
    private static ExecutorService threads;

    @BeforeAll
    static void start() throws Exception {
        server = ZooKeeperTestServer.start();
        client = connect();
        curator = CuratorFrameworkFactory.newClient(server.connectString(), 20_000, 10_000, new RetryOneTime(100));
        curator.start();
        assertThat(curator.blockUntilConnected(10, TimeUnit.SECONDS)).isTrue();
        threads = Executors.newCachedThreadPool();
    }

    @AfterAll
    static void stop() {
        threads.shutdownNow();
        curator.close();
        client.close();
        server.close();
    }

    private static LockClient connect() {
        return ZooKeeperLocks.connect(ZooKeeperTestSupport.options(server.connectString(), Duration.ofSeconds(20))
                .basePath(BASE));
    }

    private static InterProcessMutex mutex(String name) {
        return new InterProcessMutex(curator, BASE + "/" + LockPaths.nodeName(new LockName(name)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"plain", "a/b", "ä 100%", "..", "zookeeper"})
    void S01_aMortiseHolderExcludesCurator(String name) throws Exception {
        InterProcessMutex mutex = mutex(name);
        try (Lease lease = client.named(name).acquire()) {
            assertThat(mutex.acquire(100, TimeUnit.MILLISECONDS)).isFalse();
            assertThat(lease.isHeld()).isTrue();
        }
        assertThat(mutex.acquire(5, TimeUnit.SECONDS)).isTrue();
        mutex.release();
    }

    @ParameterizedTest
    @ValueSource(strings = {"plain", "a/b", "ä 100%", "..", "zookeeper"})
    void S01_aCuratorHolderExcludesMortise(String name) throws Exception {
        InterProcessMutex mutex = mutex(name);
        mutex.acquire();
        try {
            assertThat(client.named(name).tryAcquire()).isEmpty();
            assertThat(client.named(name).tryAcquire(Duration.ofSeconds(3))).isEmpty();
        } finally {
            mutex.release();
        }
        client.named(name).acquire().close();
    }

    @RepeatedTest(2)
    void S11_eachWakesTheOther() throws Exception {
        String name = "woken";
        InterProcessMutex mutex = mutex(name);
        Lease lease = client.named(name).acquire();
        CompletableFuture<Long> curatorAcquired = new CompletableFuture<>();
        CompletableFuture<Void> curatorMayRelease = new CompletableFuture<>();
        Future<?> waiter = threads.submit(() -> {
            mutex.acquire();
            curatorAcquired.complete(System.nanoTime());
            curatorMayRelease.get(20, TimeUnit.SECONDS);
            mutex.release();
            return null;
        });
        ZooKeeperTestSupport.awaitWaiters(client, name, 1);
        CompletableFuture<Lease> next = client.named(name).acquireAsync();
        ZooKeeperTestSupport.awaitWaiters(client, name, 2);
        long released = System.nanoTime();
        lease.close();
        assertThat(Duration.ofNanos(curatorAcquired.get(10, TimeUnit.SECONDS) - released))
                .isLessThan(ZooKeeperTestSupport.WOKEN);
        assertThat(next).isNotDone();
        released = System.nanoTime();
        curatorMayRelease.complete(null);
        next.get(10, TimeUnit.SECONDS).close();
        // Well below the time of the fallback timer, which would hide a lost wake-up.
        assertThat(Duration.ofNanos(System.nanoTime() - released)).isLessThan(ZooKeeperTestSupport.WOKEN);
        waiter.get(10, TimeUnit.SECONDS);
    }

    @Test
    void S18_aCuratorHolderIsShownAsForeign() throws Exception {
        InterProcessMutex mutex = mutex("seen");
        mutex.acquire();
        CompletableFuture<Lease> waiter = client.named("seen").acquireAsync();
        ZooKeeperTestSupport.awaitWaiters(client, "seen", 1);
        LockStatus status = ZooKeeperTestSupport.status(client, "seen");
        assertThat(status.holders()).singleElement().satisfies(holder -> {
            assertThat(holder.isForeign()).isTrue();
            assertThat(holder.owner()).isEmpty();
            assertThat(holder.token()).isPresent();
        });
        assertThat(status.waiters()).singleElement().matches(waiting -> !waiting.isForeign());
        mutex.release();
        waiter.get(10, TimeUnit.SECONDS).close();
    }

    @RepeatedTest(3)
    void S01_S12_aMixedCrowdIsExclusiveAndDrains() throws Exception {
        int rounds = 8;
        String name = "crowd";
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger done = new AtomicInteger();
        int[] plainCounter = {0}; // not thread-safe: only the lock orders the threads
        List<Future<?>> workers = new ArrayList<>();
        try (LockClient other = connect()) {
            for (int i = 0; i < 12; i++) {
                int kind = i % 3;
                InterProcessMutex mutex = mutex(name); // a separate mutex for each thread acts as a separate process
                workers.add(threads.submit(() -> {
                    for (int r = 0; r < rounds; r++) {
                        if (kind == 0) {
                            mutex.acquire();
                            critical(inside, done, plainCounter);
                            mutex.release();
                        } else {
                            try (Lease lease =
                                    (kind == 1 ? client : other).named(name).acquire()) {
                                critical(inside, done, plainCounter);
                                assertThat(lease.isHeld()).isTrue();
                            }
                        }
                    }
                    return null;
                }));
            }
            for (Future<?> worker : workers) {
                worker.get(40, TimeUnit.SECONDS);
            }
        }
        assertThat(done).hasValue(12 * rounds);
        assertThat(plainCounter[0]).isEqualTo(12 * rounds);
        Await.until(
                "no node is left",
                ZooKeeperTestSupport.SOON,
                () -> server.liveEphemerals().isEmpty());
    }

    private static void critical(AtomicInteger inside, AtomicInteger done, int[] plainCounter) {
        assertThat(inside.incrementAndGet()).isEqualTo(1);
        int read = plainCounter[0];
        LockSupport.parkNanos(50_000);
        plainCounter[0] = read + 1;
        done.incrementAndGet();
        assertThat(inside.decrementAndGet()).isZero();
    }
}

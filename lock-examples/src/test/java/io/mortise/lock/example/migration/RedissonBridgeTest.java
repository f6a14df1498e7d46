// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.migration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockException;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.servers.redis.RedisTestServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.redisson.config.Config;

/** Tests that Redisson's and Mortise's locks on one Redis do not exclude each other, and that {@link RedissonBridge} does. */
@Tag("once")
class RedissonBridgeTest {
    /** Options with a long timeout, since the first connection of a JVM takes long on a busy machine. */
    private static final ClientOptions LONG_TIMEOUTS = ClientOptions.defaults().connectTimeout(Duration.ofSeconds(40));

    private static final int EACH = 40;

    private static RedisTestServer redis;
    private static LockClient locks;
    private static RedissonClient redisson;

    @BeforeAll
    static void start() {
        redis = RedisTestServer.start();
        locks = Locks.connect(redis.url(), LONG_TIMEOUTS);
        Config config = new Config();
        config.useSingleServer().setAddress(redis.url()).setConnectionMinimumIdleSize(1);
        redisson = Redisson.create(config);
    }

    @AfterAll
    static void stop() {
        redisson.shutdown(0, 2, TimeUnit.SECONDS);
        locks.close();
        redis.close();
    }

    @Test
    void sameKeyFailsWithWrongTypeOnBothSides() throws Exception {
        RLock theirs = redisson.getLock("lock:x");
        try (Lease lease = locks.named("x").acquire()) {
            assertThatThrownBy(theirs::tryLock)
                    .isInstanceOf(RedisException.class)
                    .hasMessageContaining("WRONGTYPE");
            assertThat(lease.isHeld()).isTrue();
        }
        assertThat(theirs.tryLock()).isTrue();
        assertThatThrownBy(() -> locks.named("x").tryAcquire())
                .isInstanceOf(LockException.class)
                .hasMessageContaining("WRONGTYPE");
        theirs.unlock();
    }

    @Test
    void locksWithDifferentKeysAreBothGranted() throws Exception {
        RLock theirs = redisson.getLock("w");
        try (Lease lease = locks.named("w").acquire()) {
            assertThat(theirs.tryLock()).isTrue();
            assertThat(lease.isHeld()).isTrue();
            theirs.unlock();
        }
    }

    /** This is the situation while the bridge is being introduced. */
    @Test
    void bridgeExcludesClientsWithOnlyRedissonsLock() throws Exception {
        RLock theirs = redisson.getLock("stock-1");
        RedissonBridge bridge = new RedissonBridge(locks.named("stock-1"), theirs);
        assertExclusive(
                section -> {
                    theirs.lock();
                    try {
                        section.run();
                    } finally {
                        theirs.unlock();
                    }
                },
                section -> bridge.run(lease -> section.run()));
    }

    /** This is the situation while the bridge is being removed. */
    @Test
    void bridgeExcludesClientsWithOnlyMortisesLock() throws Exception {
        DistributedLock ours = locks.named("stock-2");
        RedissonBridge bridge = new RedissonBridge(ours, redisson.getLock("stock-2"));
        assertExclusive(section -> ours.run(lease -> section.run()), section -> bridge.run(lease -> section.run()));
    }

    private interface Way {
        void through(Runnable section) throws Exception;
    }

    /** Runs two threads per way of locking, and checks a counter that only the locks protect. */
    private static void assertExclusive(Way... ways) throws Exception {
        AtomicInteger inside = new AtomicInteger();
        int[] counter = {0};
        List<Callable<Void>> workers = new ArrayList<>();
        for (Way way : ways) {
            for (int i = 0; i < 2; i++) {
                workers.add(() -> {
                    for (int round = 0; round < EACH; round++) {
                        way.through(() -> {
                            assertThat(inside.incrementAndGet()).isEqualTo(1);
                            int read = counter[0];
                            LockSupport.parkNanos(100_000);
                            counter[0] = read + 1;
                            inside.decrementAndGet();
                        });
                    }
                    return null;
                });
            }
        }
        ExecutorService threads = Executors.newFixedThreadPool(workers.size());
        try {
            for (Future<Void> worker : threads.invokeAll(workers, 40, TimeUnit.SECONDS)) {
                worker.get();
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(counter[0]).isEqualTo(workers.size() * EACH);
    }
}

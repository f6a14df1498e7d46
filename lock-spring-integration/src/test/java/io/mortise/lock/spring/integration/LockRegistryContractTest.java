// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.LeaseLostException;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LossReason;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.integration.support.locks.DistributedLock;

/**
 * Tests the registry on a store, from two clients. Spring Integration publishes no tests for registries; these check what those of
 * its own registries for Redis, JDBC and ZooKeeper check, apart from their caches of locks, which this registry does not have.
 */
@SuppressWarnings("LockNotBeforeTry") // the tests are about the calls
class LockRegistryContractTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    abstract static class Contract {
        private final ExecutorService otherThread = Executors.newSingleThreadExecutor();
        private LockClient client = start();
        private LockClient otherClient = client;
        private AutoCloseable server = () -> {};
        private MortiseLockRegistry registry = new MortiseLockRegistry(client);
        private MortiseLockRegistry otherRegistry = registry;
        private String key = "";

        private static LockClient start() {
            return Locks.connect("memory:" + UUID.randomUUID());
        }

        /** Starts the server, which is closed after the class; returns the URL for clients. */
        abstract String startServer() throws Exception;

        final <T extends AutoCloseable> T started(T running) {
            server = running;
            return running;
        }

        @BeforeAll
        final void openClients() throws Exception {
            client.close();
            String url = startServer();
            ClientOptions options = ClientOptions.defaults().connectTimeout(Duration.ofSeconds(40));
            client = Locks.connect(url, options);
            otherClient = Locks.connect(url, options);
        }

        @AfterAll
        final void close() throws Exception {
            otherThread.shutdownNow();
            client.close();
            otherClient.close();
            server.close();
        }

        @BeforeEach
        final void createRegistries() {
            key = UUID.randomUUID().toString();
            registry = new MortiseLockRegistry(client);
            otherRegistry = new MortiseLockRegistry(otherClient);
        }

        private <T> Future<T> elsewhere(Callable<T> call) {
            return otherThread.submit(call);
        }

        private static <T> T get(Future<T> future) throws Exception {
            return future.get(SOON.toSeconds(), TimeUnit.SECONDS);
        }

        private boolean canLockElsewhere(MortiseLockRegistry where, Duration maxWait) throws Exception {
            return get(elsewhere(() -> {
                DistributedLock lock = where.obtain(key);
                boolean acquired = lock.tryLock(maxWait.toMillis(), TimeUnit.MILLISECONDS);
                if (acquired) {
                    lock.unlock();
                }
                return acquired;
            }));
        }

        private void assertBusy() throws Exception {
            assertThat(canLockElsewhere(registry, Duration.ZERO)).isFalse();
            assertThat(canLockElsewhere(otherRegistry, Duration.ZERO)).isFalse();
        }

        /** Waits a little, because on ZooKeeper an attempt that failed is in the queue for a moment. */
        private void assertFree() throws Exception {
            assertThat(registry.holds().ofThread()).isEmpty();
            assertThat(canLockElsewhere(registry, Duration.ofSeconds(10))).isTrue();
            assertThat(canLockElsewhere(otherRegistry, Duration.ofSeconds(10))).isTrue();
        }

        private void removeHolder() {
            String name = MortiseLockRegistry.DEFAULT_PREFIX + key;
            otherClient
                    .named(name)
                    .status()
                    .join()
                    .holders()
                    .forEach(holder -> otherClient
                            .admin()
                            .orElseThrow()
                            .forceRelease(name, holder)
                            .join());
        }

        /** A way to acquire a lock that has to succeed. */
        private interface Way {
            boolean acquire(DistributedLock lock) throws InterruptedException;
        }

        private static final List<Way> WAYS = List.of(
                lock -> {
                    lock.lock();
                    return true;
                },
                lock -> {
                    lock.lockInterruptibly();
                    return true;
                },
                lock -> {
                    lock.lock(Duration.ofMinutes(5));
                    return true;
                },
                lock -> lock.tryLock(),
                lock -> lock.tryLock(20, TimeUnit.SECONDS),
                lock -> lock.tryLock(SOON, Duration.ofMinutes(5)));

        @Test
        void S01_eachWayToAcquireExcludesThreadsAndClientsUntilTheUnlock() throws Exception {
            for (Way way : WAYS) {
                DistributedLock lock = registry.obtain(key);
                assertThat(way.acquire(lock)).isTrue();
                assertBusy();
                lock.unlock();
                assertFree();
            }
        }

        @Test
        void eachWayIsReentrantAlsoOnALockThatIsObtainedAgain() throws Exception {
            DistributedLock outer = registry.obtain(key);
            outer.lock();
            for (Way way : WAYS) {
                DistributedLock inner = registry.obtain(key);
                assertThat(inner).isEqualTo(outer).hasSameHashCodeAs(outer);
                assertThat(way.acquire(inner)).isTrue();
                inner.unlock();
                assertBusy();
            }
            registry.obtain(key).unlock();
            assertFree();
        }

        @Test
        void locksOfOtherKeysAreIndependent() throws Exception {
            DistributedLock one = registry.obtain(key);
            DistributedLock two = registry.obtain(key + "/2");
            assertThat(one).isNotEqualTo(two);
            one.lock();
            assertThat(two.tryLock()).isTrue();
            one.unlock();
            assertThat(registry.lease(key + "/2").isHeld()).isTrue();
            two.unlock();
            assertFree();
        }

        @Test
        void waitersOfBothRegistriesGetTheLockAfterTheUnlock() throws Exception {
            for (MortiseLockRegistry waiting : List.of(registry, otherRegistry)) {
                registry.obtain(key).lock();
                Future<Boolean> waiter = elsewhere(() -> waiting.obtain(key).tryLock(20, TimeUnit.SECONDS));
                assertThat(waiter.isDone()).isFalse();
                registry.obtain(key).unlock();
                assertThat(get(waiter)).isTrue();
                assertThat(registry.obtain(key).tryLock()).isFalse();
                get(elsewhere(Executors.callable(() -> waiting.obtain(key).unlock())));
                assertFree();
            }
        }

        @Test
        void S09_aBusyLockIsFalseAtTheLimit() throws Exception {
            registry.obtain(key).lock();
            long start = System.nanoTime();
            assertThat(endsWithoutTheLock(() -> registry.obtain(key).tryLock(100, TimeUnit.MILLISECONDS)))
                    .isTrue();
            assertThat(endsWithoutTheLock(
                            () -> otherRegistry.obtain(key).tryLock(Duration.ofMillis(100), Duration.ofMinutes(5))))
                    .isTrue();
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofMillis(200));
            registry.obtain(key).unlock();
        }

        /** On a machine that stands still, the limit may come before the store's first reply (S15). */
        private boolean endsWithoutTheLock(Callable<Boolean> tryLock) throws Exception {
            try {
                return !get(elsewhere(tryLock));
            } catch (ExecutionException e) {
                return e.getCause() instanceof BackendUnavailableException;
            }
        }

        @Test
        void anotherThreadCannotUnlock() throws Exception {
            registry.obtain(key).lock();
            Future<?> unlock =
                    elsewhere(Executors.callable(() -> registry.obtain(key).unlock()));
            assertThatThrownBy(() -> get(unlock))
                    .hasCauseInstanceOf(IllegalMonitorStateException.class)
                    .hasMessageContaining(key);
            assertBusy();
            registry.obtain(key).unlock();
            assertFree();
        }

        @Test
        void S01_threadsOfTwoRegistriesNeverOverlap() throws Exception {
            int[] count = {0};
            int each = 15;
            ExecutorService threads = Executors.newFixedThreadPool(4);
            try {
                List<CompletableFuture<Void>> running = IntStream.range(0, 4)
                        .mapToObj(i -> CompletableFuture.runAsync(
                                () -> {
                                    for (int run = 0; run < each; run++) {
                                        DistributedLock lock = (i % 2 == 0 ? registry : otherRegistry).obtain(key);
                                        lock.lock();
                                        count[0]++; // not atomic
                                        lock.unlock();
                                    }
                                },
                                threads))
                        .toList();
                for (CompletableFuture<Void> run : running) {
                    run.get(60, TimeUnit.SECONDS);
                }
            } finally {
                threads.shutdownNow();
            }
            assertThat(count[0]).isEqualTo(4 * each);
        }

        @Test
        void S07_theTimeToLiveEndsTheLockThoughItIsRenewed() throws Exception {
            Duration ttl = Duration.ofMillis(300);
            List<Way> limited = List.of(
                    lock -> {
                        lock.lock(ttl);
                        return true;
                    },
                    lock -> lock.tryLock(SOON, ttl));
            for (Way way : limited) {
                DistributedLock lock = registry.obtain(key);
                assertThat(way.acquire(lock)).isTrue();
                assertThat(get(elsewhere(() -> otherRegistry.obtain(key).tryLock(20, TimeUnit.SECONDS))))
                        .isTrue();
                assertThatThrownBy(lock::unlock)
                        .isInstanceOfSatisfying(
                                LeaseLostException.class,
                                lost -> assertThat(lost.reason().kind()).isEqualTo(LossReason.Kind.MAX_HOLD));
                assertThat(registry.holds().ofThread()).isEmpty();
                assertThat(lock.tryLock()).isFalse(); // the unlock spared the next holder
                get(elsewhere(Executors.callable(() -> otherRegistry.obtain(key).unlock())));
                assertFree();
            }
        }

        @Test
        void S07_theUnlockReportsALossAndTheLockCanBeUsedAgain() throws Exception {
            LockOptions options = client.capabilities().contains(Capability.PER_LOCK_LEASE)
                    ? LockOptions.defaults()
                            .leaseDuration(Duration.ofSeconds(3)) // Redis reports a loss after a third of it
                    : LockOptions.defaults();
            MortiseLockRegistry brief = new MortiseLockRegistry(
                    client, options, MortiseLockRegistry.namesWithPrefix(MortiseLockRegistry.DEFAULT_PREFIX));
            DistributedLock lock = brief.obtain(key);
            lock.lock();
            lock.lock();
            removeHolder();
            Await.until("the loss is noticed", SOON, () -> !brief.lease(key).isHeld());
            assertThatThrownBy(lock::tryLock).isInstanceOf(LeaseLostException.class);
            assertThatThrownBy(() -> brief.renewLock(key)).isInstanceOf(LeaseLostException.class);
            assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
            assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
            assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
            assertThat(registry.obtain(key).tryLock(20, TimeUnit.SECONDS)).isTrue();
            registry.obtain(key).unlock();
            assertFree();
        }

        @Test
        void S10_anInterruptEndsAWaitThatMayBeInterrupted() throws Exception {
            registry.obtain(key).lock();
            List<Way> interruptible = List.of(
                    lock -> {
                        lock.lockInterruptibly();
                        return true;
                    },
                    lock -> lock.tryLock(1, TimeUnit.HOURS),
                    lock -> lock.tryLock(Duration.ofHours(1), Duration.ofMinutes(5)));
            for (Way way : interruptible) {
                CompletableFuture<Throwable> failure = new CompletableFuture<>();
                Thread waiter = new Thread(() -> {
                    try {
                        way.acquire(registry.obtain(key));
                    } catch (Throwable e) {
                        failure.complete(e);
                    }
                });
                waiter.start();
                waiter.interrupt();
                assertThat(get(failure)).isInstanceOf(InterruptedException.class);
            }
            registry.obtain(key).unlock();
            assertFree();
        }

        @Test
        void lockAndUnlockOutlastAnInterrupt() throws Exception {
            registry.obtain(key).lock();
            CountDownLatch starts = new CountDownLatch(1);
            CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
            Thread waiter = new Thread(() -> {
                starts.countDown();
                registry.obtain(key).lock();
                registry.obtain(key).unlock();
                interrupted.complete(Thread.currentThread().isInterrupted());
            });
            waiter.start();
            assertThat(starts.await(20, TimeUnit.SECONDS)).isTrue();
            waiter.interrupt();
            registry.obtain(key).unlock();
            assertThat(get(interrupted)).isTrue();
            assertFree();
        }

        @Test
        void renewalIsACheck() throws Exception {
            DistributedLock lock = registry.obtain(key);
            assertThatThrownBy(() -> registry.renewLock(key)).isInstanceOf(IllegalMonitorStateException.class);
            lock.lock();
            registry.renewLock(key);
            registry.renewLock(key, Duration.ofMillis(1));
            assertThatThrownBy(() -> get(elsewhere(Executors.callable(() -> registry.renewLock(key)))))
                    .hasCauseInstanceOf(IllegalMonitorStateException.class);
            registry.expireUnusedOlderThan(0);
            assertBusy();
            lock.unlock();
            lock.lock(Duration.ofMinutes(5));
            assertThatThrownBy(() -> registry.renewLock(key, Duration.ofMinutes(10)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContainingAll(key, "PT5M", "cannot be extended");
            lock.unlock();
            assertFree();
        }

        @Test
        void S03_theLeaseHasAFencingToken() {
            long before = 0;
            for (int i = 0; i < 2; i++) {
                registry.obtain(key).lock();
                long token = registry.lease(key).fencingToken();
                assertThat(token).isGreaterThan(before);
                before = token;
                registry.obtain(key).unlock();
            }
            assertThatThrownBy(() -> registry.lease(key)).isInstanceOf(IllegalMonitorStateException.class);
        }
    }

    @Nested
    class Memory extends Contract {
        @Override
        String startServer() {
            return "memory:" + UUID.randomUUID();
        }
    }

    @Nested
    class Redis extends Contract {
        @Override
        String startServer() {
            return started(RedisTestServer.start()).url();
        }
    }

    @Nested
    class ZooKeeper extends Contract {
        @Override
        String startServer() throws Exception {
            return "zookeeper://" + started(ZooKeeperTestServer.start()).connectString();
        }
    }
}

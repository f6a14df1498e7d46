// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.servers.etcd.EtcdTestServer;
import io.mortise.lock.servers.redis.RedisTestMasters;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.test.support.AbstractExtensibleLockProviderIntegrationTest;
import net.javacrumbs.shedlock.test.support.FuzzTester;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Runs the tests that ShedLock publishes for its lock providers, on each backend. */
class ShedLockContractTest {
    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    abstract static class Contract extends AbstractExtensibleLockProviderIntegrationTest {
        /** Much longer than a store needs for a reply. */
        private static final Duration SHORT = Duration.ofMillis(500);

        private LockClient client = start();
        private LockClient observer = client;
        private AutoCloseable server = () -> {};
        String name = "";

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
            observer = Locks.connect(url, options);
        }

        @AfterAll
        final void closeClients() throws Exception {
            client.close();
            observer.close();
            server.close();
        }

        /** Each test has a lock of its own, though the tests share one instance. */
        @BeforeEach
        final void chooseName() {
            name = UUID.randomUUID().toString();
        }

        /** The name of the lock in ShedLock's tests is the same in all tests of an instance. */
        @AfterEach
        final void freeTheLock() {
            for (String lock : new String[] {LOCK_NAME1, name}) {
                observer.named(lock)
                        .status()
                        .join()
                        .holders()
                        .forEach(holder -> observer.admin()
                                .orElseThrow()
                                .forceRelease(lock, holder)
                                .join());
            }
        }

        @Override
        protected final ExtensibleLockProvider getLockProvider() {
            return new MortiseLockProvider(client);
        }

        @Override
        protected final void assertUnlocked(String lockName) {
            Await.until(
                    "lock " + lockName + " is free",
                    Duration.ofSeconds(10),
                    () -> observer.named(lockName).status().join().holders().isEmpty());
        }

        @Override
        protected final void assertLocked(String lockName) {
            assertThat(observer.named(lockName).status().join().holders()).hasSize(1);
        }

        final SimpleLock locked(Duration atMost, Duration atLeast) {
            return getLockProvider().lock(lockConfig(name, atMost, atLeast)).orElseThrow();
        }

        /** ShedLock's own test has a lockAtMostFor of 2 ms: that is over before a store replies, and then there is no lock. */
        @Test
        @Override
        public void shouldNotBeAbleToExtendExpiredLock() {
            SimpleLock lock = locked(SHORT, Duration.ZERO);
            sleepFor(SHORT.multipliedBy(2));
            assertThat(lock.extend(Duration.ofSeconds(10), Duration.ZERO)).isEmpty();
            assertUnlocked(name);
        }

        /** ShedLock's own test has a lockAtMostFor of 50 ms, which a busy machine may need for one reply. */
        @Test
        @Override
        public void shouldTimeout() {
            locked(SHORT, Duration.ZERO);
            assertUnlocked(name);
            locked(SHORT, Duration.ZERO).unlock();
            assertUnlocked(name);
        }

        /** The job outlives lockAtMostFor, so it must not have its lock any longer, nor free that of the next run. */
        @Test
        void anUnlockAfterLockAtMostForSparesTheNextRun() {
            SimpleLock first = locked(SHORT, Duration.ZERO);
            assertUnlocked(name);
            SimpleLock second = locked(Duration.ofMinutes(1), Duration.ZERO);
            first.unlock();
            assertLocked(name);
            second.unlock();
            assertUnlocked(name);
        }

        /** As at a shutdown that interrupts the threads of jobs. */
        @Test
        void anInterruptDoesNotShortenLockAtLeastFor() {
            long start = System.nanoTime();
            SimpleLock lock = locked(Duration.ofMinutes(1), Duration.ofSeconds(1));
            Thread.currentThread().interrupt();
            try {
                lock.unlock();
                assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofSeconds(1));
            } finally {
                assertThat(Thread.interrupted()).as("the interrupt is kept").isTrue();
            }
            assertUnlocked(name);
        }

        @Test
        void aLostLeaseCannotBeExtended() {
            LockOptions options = client.capabilities().contains(Capability.PER_LOCK_LEASE)
                    ? LockOptions.defaults().leaseDuration(Duration.ofSeconds(3))
                    : LockOptions.defaults();
            SimpleLock[] lock = {
                new MortiseLockProvider(client, options).lock(lockConfig(name)).orElseThrow()
            };
            observer.named(name)
                    .status()
                    .join()
                    .holders()
                    .forEach(holder -> observer.admin()
                            .orElseThrow()
                            .forceRelease(name, holder)
                            .join());
            Await.until("the loss is noticed", Duration.ofSeconds(30), () -> {
                Optional<SimpleLock> extended = lock[0].extend(Duration.ofMinutes(1), Duration.ZERO);
                extended.ifPresent(next -> lock[0] = next);
                return extended.isEmpty();
            });
            lock[0].unlock(); // the job's end does not hide the failure by another
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
        String startServer() throws Exception {
            return started(RedisTestServer.start()).url();
        }
    }

    @Nested
    @Tag("long")
    class Redlock extends Contract {
        @Override
        String startServer() throws Exception {
            return started(RedisTestMasters.start(3)).url() + "?testOnlyNewMasters=true";
        }

        /** Redlock's limit is known to the store alone, so the lease is held for the rest of the time. */
        @Test
        void aLockAtLeastForBeyondMaxLeaseIsHeldByTheClient() {
            locked(Duration.ofMinutes(5), Duration.ofMinutes(4)).unlock();
            assertLocked(name);
            assertThat(getLockProvider().lock(lockConfig(name))).isEmpty();
        }
    }

    @Nested
    @Tag("long")
    class Etcd extends Contract {
        @Override
        String startServer() throws Exception {
            return started(EtcdTestServer.start()).url();
        }

        /** etcd counts in whole seconds, and ends its leases up to half a second late. */
        @Override
        @Test
        public void shouldLockAtLeastFor() throws InterruptedException {
            doTestShouldLockAtLeastFor(4000);
        }
    }

    /**
     * The four tests with a lockAtLeastFor of more than a second are those that ZooKeeper cannot pass. An attempt that fails is in
     * ZooKeeper's queue for a moment, so attempts in tight loops find each other there; with pauses they do not.
     */
    @Nested
    class ZooKeeper extends Contract {
        @Override
        String startServer() throws Exception {
            return "zookeeper://" + started(ZooKeeperTestServer.start()).connectString();
        }

        @Override
        @Test
        public void fuzzTestShouldPass() throws ExecutionException, InterruptedException {
            LockProvider provider = getLockProvider();
            new FuzzTester(configuration -> {
                        Optional<SimpleLock> lock = provider.lock(configuration);
                        if (lock.isEmpty()) {
                            LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(5_000_000, 50_000_000));
                        }
                        return lock;
                    })
                    .doFuzzTest();
        }

        private static void assertRefused(Duration atLeast, Runnable request) {
            assertThatThrownBy(request::run)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(atLeast.toString())
                    .hasMessageContaining("PT1S")
                    .hasMessageContaining("DELAYED_RELEASE");
        }

        private void assertExtensionRefused() {
            SimpleLock lock = locked(Duration.ofSeconds(10), Duration.ZERO);
            Duration atLeast = Duration.ofSeconds(9);
            assertRefused(atLeast, () -> lock.extend(Duration.ofSeconds(10), atLeast));
            assertLocked(name);
            lock.unlock();
            assertUnlocked(name);
        }

        @Override
        @Test
        public void shouldLockAtLeastFor() {
            assertRefused(
                    LOCK_AT_LEAST_FOR,
                    () -> getLockProvider()
                            .lock(lockConfig(name, LOCK_AT_LEAST_FOR.multipliedBy(2), LOCK_AT_LEAST_FOR)));
            assertUnlocked(name);
        }

        @Override
        @Test
        public void shouldBeAbleToExtendAtLeast() {
            assertExtensionRefused();
        }

        @Override
        @Test
        public void lockCanNotBeExtendedTwice() {
            assertExtensionRefused();
        }

        @Override
        @Test
        public void lockCanNotBeUnlockedAfterExtending() {
            assertExtensionRefused();
        }

        @Test
        void aShortLockAtLeastForIsWaitedFor() {
            long start = System.nanoTime();
            locked(Duration.ofSeconds(10), Duration.ofMillis(500)).unlock();
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofMillis(500));
            assertUnlocked(name);
            Optional<SimpleLock> next = getLockProvider().lock(lockConfig(name));
            assertThat(next).hasValueSatisfying(SimpleLock::unlock);
        }
    }
}

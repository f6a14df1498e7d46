// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.testkit.proxy.TcpProxy;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.apache.curator.framework.CuratorFramework;
import org.h2.jdbcx.JdbcConnectionPool;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.zookeeper.lock.ZookeeperLockRegistry;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/** Shows defects of Spring Integration's lock registries by their API alone. */
@Tag("peers")
@SuppressWarnings("LockNotBeforeTry") // the tests show what a lock does that is not released
class SpringReproductionTest {
    private static final Duration LEASE = Duration.ofSeconds(30);

    /** java.util.concurrent.locks.Lock.tryLock(): "if the lock is not available then this method will return immediately". */
    @Test
    void tryLockOnZooKeeperWaitsASecondForALockThatIsHeld() throws Exception {
        try (ZooKeeperTestServer server = ZooKeeperTestServer.start();
                CuratorFramework one = CuratorReproductionTest.connect(server.connectString());
                CuratorFramework two = CuratorReproductionTest.connect(server.connectString())) {
            ZookeeperLockRegistry holding = new ZookeeperLockRegistry(one);
            ZookeeperLockRegistry trying = new ZookeeperLockRegistry(two);
            try {
                Lock held = holding.obtain("lock");
                held.lock();
                Lock lock = trying.obtain("lock");
                long start = System.nanoTime();
                assertThat(lock.tryLock()).isFalse();
                assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofMillis(900));
                held.unlock();
            } finally {
                holding.destroy();
                trying.destroy();
            }
        }
    }

    /** java.util.concurrent.locks.Lock.tryLock(time, unit): "time - the maximum time to wait for the lock". */
    @Test
    void aTimedTryOnRedisBehindAnotherThreadWaitsTwiceItsTime() throws Exception {
        try (RedisTestServer server = RedisTestServer.start()) {
            RedisRegistry one = new RedisRegistry(server.port(), LEASE);
            RedisRegistry other = new RedisRegistry(server.port(), LEASE);
            try {
                Lock held = other.registry.obtain("lock");
                held.lock();
                Lock lock = one.registry.obtain("lock");
                Thread ahead = new Thread(() -> tryFor(lock, Duration.ofMillis(1400)));
                ahead.start();
                Await.until("the other thread is ahead", Duration.ofSeconds(10), () -> isWaiting(ahead));
                long start = System.nanoTime();
                assertThat(lock.tryLock(1500, TimeUnit.MILLISECONDS)).isFalse();
                assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofMillis(2500));
                ahead.join();
                held.unlock();
            } finally {
                one.close();
                other.close();
            }
        }
    }

    /** Lock.tryLock(time, unit) and lockInterruptibly(): "throws InterruptedException - if the current thread is interrupted". */
    @Test
    void anInterruptOnRedisIsReportedAsACannotAcquireLockException() throws Exception {
        try (RedisTestServer server = RedisTestServer.start();
                TcpProxy link = TcpProxy.to("127.0.0.1", server.port())) {
            RedisRegistry one = new RedisRegistry(link.port(), LEASE);
            RedisRegistry other = new RedisRegistry(server.port(), LEASE);
            try {
                Lock held = other.registry.obtain("lock");
                held.lock();
                Lock lock = one.registry.obtain("lock");
                assertThat(interrupted(() -> lock.tryLock(10, TimeUnit.SECONDS)))
                        .isInstanceOf(CannotAcquireLockException.class);
                held.unlock();
                link.blackHole();
                assertThat(interrupted(() -> {
                            lock.lockInterruptibly();
                            return true;
                        }))
                        .isInstanceOf(CannotAcquireLockException.class);
                link.heal();
            } finally {
                one.close();
                other.close();
            }
        }
    }

    /** Lock.tryLock(time, unit): "throws InterruptedException - if the current thread is interrupted while acquiring the lock". */
    @Test
    void anInterruptOfATimedTryOnJdbcIsReportedAsACannotAcquireLockException() throws Exception {
        try (H2PeerTestServer server = new H2PeerTestServer();
                JdbcRegistry one = new JdbcRegistry(server);
                JdbcRegistry other = new JdbcRegistry(server)) {
            Lock held = other.registry.obtain("lock");
            held.lock();
            Lock lock = one.registry.obtain("lock");
            assertThat(interrupted(() -> lock.tryLock(1, TimeUnit.MINUTES)))
                    .isInstanceOf(CannotAcquireLockException.class)
                    .hasCauseInstanceOf(InterruptedException.class);
            // A wait without a limit keeps the contract.
            assertThat(interrupted(() -> {
                        lock.lockInterruptibly();
                        return true;
                    }))
                    .isInstanceOf(InterruptedException.class);
            held.unlock();
        }
    }

    /** The reference manual: with a renewal task scheduler the lock "is renewed" until it is unlocked. */
    @Test
    void anUnlockThatFailsOnRedisLeavesALockThatIsRenewedForever() throws Exception {
        Duration lease = Duration.ofSeconds(2);
        ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
        scheduler.initialize();
        try (RedisTestServer server = RedisTestServer.start();
                TcpProxy link = TcpProxy.to("127.0.0.1", server.port())) {
            RedisRegistry one = new RedisRegistry(link.port(), lease);
            RedisRegistry other = new RedisRegistry(server.port(), lease);
            one.registry.setRenewalTaskScheduler(scheduler);
            try {
                Lock held = one.registry.obtain("lock");
                held.lock();
                link.blackHole();
                assertThatThrownBy(held::unlock).isInstanceOf(DataAccessException.class);
                link.heal();
                // The thread does not own the local lock any more, so it cannot try again.
                assertThatThrownBy(held::unlock).isInstanceOf(IllegalStateException.class);
                Lock next = other.registry.obtain("lock");
                assertThat(next.tryLock(lease.multipliedBy(5).toMillis(), TimeUnit.MILLISECONDS))
                        .as("another process acquires the lock within five leases")
                        .isFalse();
            } finally {
                one.close();
                other.close();
                scheduler.shutdown();
            }
        }
    }

    /** Runs the call on a thread, interrupts it when it waits, and returns the exception. */
    private static Throwable interrupted(Callable<Boolean> call) throws Exception {
        CompletableFuture<Throwable> outcome = new CompletableFuture<>();
        Thread waiter = new Thread(() -> {
            try {
                outcome.complete(new AssertionError("returned " + call.call()));
            } catch (Throwable e) {
                outcome.complete(e);
            }
        });
        waiter.start();
        Await.until("the thread waits", Duration.ofSeconds(10), () -> isWaiting(waiter));
        waiter.interrupt();
        return outcome.get(10, TimeUnit.SECONDS);
    }

    private static void tryFor(Lock lock, Duration time) {
        try {
            lock.tryLock(time.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static boolean isWaiting(Thread thread) {
        return thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING;
    }

    private static final class JdbcRegistry implements AutoCloseable {
        private final JdbcConnectionPool source;
        private final DefaultLockRepository repository;
        private final JdbcLockRegistry registry;

        JdbcRegistry(H2PeerTestServer server) {
            source = JdbcConnectionPool.create(
                    H2PeerTestServer.url(server.addresses().get(0)), "", "");
            repository = new DefaultLockRepository(source);
            repository.setTransactionManager(new DataSourceTransactionManager(source));
            repository.afterPropertiesSet();
            repository.afterSingletonsInstantiated();
            repository.start();
            registry = new JdbcLockRegistry(repository, LEASE);
        }

        @Override
        public void close() {
            repository.close();
            source.dispose();
        }
    }

    private static final class RedisRegistry implements AutoCloseable {
        private final LettuceConnectionFactory connections;
        private final RedisLockRegistry registry;

        RedisRegistry(int port, Duration lease) {
            connections = new LettuceConnectionFactory(
                    new RedisStandaloneConfiguration("127.0.0.1", port),
                    LettuceClientConfiguration.builder()
                            .commandTimeout(Duration.ofSeconds(1))
                            .build());
            connections.afterPropertiesSet();
            connections.start();
            registry = new RedisLockRegistry(connections, "registry", lease);
        }

        @Override
        public void close() {
            registry.destroy();
            connections.destroy();
        }
    }
}

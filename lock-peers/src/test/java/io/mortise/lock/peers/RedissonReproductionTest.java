// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.testkit.proxy.TcpProxy;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.RedissonRedLock;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.redisson.config.Config;

/** Shows defects of Redisson's locks by Redisson's API alone. */
@Tag("peers")
@SuppressWarnings("LockNotBeforeTry") // the tests show what a lock does that is not released
class RedissonReproductionTest {
    private static final Duration WATCHDOG = Duration.ofSeconds(3);

    /**
     * The Javadoc of lockInterruptibly: "throws InterruptedException - if the thread is interrupted". It throws another exception
     * while a request is pending; if that request is granted, nobody holds the lock, and the watchdog renews it.
     */
    @Test
    void anInterruptAfterTheGrantLeavesALockThatIsRenewedForever() throws Exception {
        try (RedisTestServer server = RedisTestServer.start();
                TcpProxy link = TcpProxy.to("127.0.0.1", server.port())) {
            RedissonClient slow = connect(link.address());
            RedissonClient other = connect("127.0.0.1:" + server.port());
            try {
                RLock lock = slow.getLock("lock");
                lock.lock();
                lock.unlock();
                link.delay(Duration.ofMillis(300)); // the reply comes 300 ms after the grant
                AtomicReference<Throwable> outcome = new AtomicReference<>();
                Thread waiter = new Thread(() -> {
                    try {
                        lock.lockInterruptibly();
                    } catch (Throwable e) {
                        outcome.set(e);
                    }
                });
                waiter.start();
                try (RawRedis redis = server.connect()) {
                    Await.until(
                            "the request has been executed",
                            Duration.ofSeconds(10),
                            () -> !redis.keys("lock").isEmpty());
                }
                waiter.interrupt();
                waiter.join();
                assertThat(outcome.get())
                        .isInstanceOf(RedisException.class)
                        .hasCauseInstanceOf(InterruptedException.class);
                link.delay(Duration.ZERO);
                // Nobody holds the lock any more, and nobody can release it. Its lease is renewed all the same.
                assertThat(other.getLock("lock")
                                .tryLock(WATCHDOG.multipliedBy(4).toMillis(), TimeUnit.MILLISECONDS))
                        .as("another client acquires the lock within four leases")
                        .isFalse();
            } finally {
                slow.shutdown(0, 2, TimeUnit.SECONDS);
                other.shutdown(0, 2, TimeUnit.SECONDS);
            }
        }
    }

    /** Lock.lockInterruptibly(): "has its interrupted status set on entry to this method", then it throws an InterruptedException. */
    @Test
    void aThreadThatWasInterruptedBeforeGetsNoInterruptedException() throws Exception {
        try (RedisTestServer server = RedisTestServer.start();
                TcpProxy link = TcpProxy.to("127.0.0.1", server.port())) {
            RedissonClient client = connect(link.address());
            try {
                RLock lock = client.getLock("lock");
                lock.lock();
                lock.unlock();
                link.delay(Duration.ofMillis(300)); // a reply that came first would be a grant
                for (ThrowingCallable call :
                        List.<ThrowingCallable>of(lock::lockInterruptibly, () -> lock.tryLock(1, TimeUnit.SECONDS))) {
                    Thread.currentThread().interrupt();
                    assertThatThrownBy(call)
                            .isInstanceOf(RedisException.class)
                            .hasCauseInstanceOf(InterruptedException.class);
                    assertThat(Thread.interrupted()).isTrue();
                }
            } finally {
                client.shutdown(0, 2, TimeUnit.SECONDS);
            }
        }
    }

    /**
     * The documentation of fair locks: "if some thread has died then Redisson waits its return for 5 seconds". A thread that was
     * interrupted has not even died, and still nobody gets the lock for longer than that.
     */
    @Test
    void anInterruptedWaiterOfAFairLockBlocksThoseBehindIt() throws Exception {
        try (RedisTestServer server = RedisTestServer.start()) {
            RedissonClient one = connect("127.0.0.1:" + server.port());
            RedissonClient two = connect("127.0.0.1:" + server.port());
            try {
                RLock held = one.getFairLock("lock");
                held.lock();
                RLock lock = two.getFairLock("lock");
                CompletableFuture<Throwable> outcome = new CompletableFuture<>();
                Thread waiter = new Thread(() -> {
                    try {
                        lock.lockInterruptibly();
                        outcome.complete(new AssertionError("granted"));
                    } catch (Throwable e) {
                        outcome.complete(e);
                    }
                });
                waiter.start();
                // Not before it waits: an interrupt that comes earlier is another case.
                Await.until("it waits for a message", Duration.ofSeconds(10), () -> isWaitingForAMessage(waiter));
                waiter.interrupt();
                assertThat(outcome.get(10, TimeUnit.SECONDS)).isInstanceOf(InterruptedException.class);
                held.unlock();
                assertThat(held.isLocked()).isFalse();
                assertThat(held.tryLock(15, TimeUnit.SECONDS))
                        .as("the lock that nobody holds, and nobody else waits for, within 15 s")
                        .isFalse();
            } finally {
                one.shutdown(0, 2, TimeUnit.SECONDS);
                two.shutdown(0, 2, TimeUnit.SECONDS);
            }
        }
    }

    /**
     * The documentation, also of fair locks: "only lock owner thread can unlock it otherwise IllegalMonitorStateException would be
     * thrown".
     */
    @Test
    void anUnlockOfAFairLockThatHasExpiredThrowsNothing() throws Exception {
        try (RedisTestServer server = RedisTestServer.start()) {
            RedissonClient client = connect("127.0.0.1:" + server.port());
            try {
                for (RLock lock : List.of(client.getLock("lock"), client.getFairLock("fair"))) {
                    lock.lock(100, TimeUnit.MILLISECONDS);
                    Await.until("the lease expires", Duration.ofSeconds(10), () -> !lock.isLocked());
                }
                assertThatThrownBy(() -> client.getLock("lock").unlock())
                        .isInstanceOf(IllegalMonitorStateException.class);
                RLock fair = client.getFairLock("fair");
                assertThat(fair.isHeldByCurrentThread()).isFalse();
                assertThatCode(fair::unlock).doesNotThrowAnyException();
            } finally {
                client.shutdown(0, 2, TimeUnit.SECONDS);
            }
        }
    }

    /** The Javadoc of tryLockAndGetToken(): "fencing token if lock acquired otherwise null". */
    @Test
    void aTryOfAFencedLockThatIsHeldWaitsUntilItIsReleased() throws Exception {
        try (RedisTestServer server = RedisTestServer.start()) {
            RedissonClient one = connect("127.0.0.1:" + server.port());
            RedissonClient two = connect("127.0.0.1:" + server.port());
            try {
                RFencedLock held = one.getFencedLock("lock");
                held.lock();
                RFencedLock lock = two.getFencedLock("lock");
                CompletableFuture<Optional<Long>> trying =
                        CompletableFuture.supplyAsync(() -> Optional.ofNullable(lock.tryLockAndGetToken()));
                assertThatThrownBy(() -> trying.get(WATCHDOG.multipliedBy(3).toMillis(), TimeUnit.MILLISECONDS))
                        .isInstanceOf(TimeoutException.class);
                held.unlock();
                assertThat(trying.get(10, TimeUnit.SECONDS)).isPresent();
            } finally {
                one.shutdown(0, 2, TimeUnit.SECONDS);
                two.shutdown(0, 2, TimeUnit.SECONDS);
            }
        }
    }

    /** RLock.lockInterruptibly: "throws InterruptedException - if the thread is interrupted". */
    @Test
    @SuppressWarnings("deprecation") // Redisson offers no replacement for RedissonRedLock.
    void aWaitForARedLockSurvivesAnInterrupt() throws Exception {
        try (RedisTestServer server = RedisTestServer.start()) {
            RedissonClient one = connect("127.0.0.1:" + server.port());
            RedissonClient two = connect("127.0.0.1:" + server.port());
            try {
                RLock held = new RedissonRedLock(one.getLock("a"), one.getLock("b"), one.getLock("c"));
                held.lock();
                RLock lock = new RedissonRedLock(two.getLock("a"), two.getLock("b"), two.getLock("c"));
                CompletableFuture<String> outcome = new CompletableFuture<>();
                Thread waiter = new Thread(() -> {
                    try {
                        lock.lockInterruptibly();
                        outcome.complete("granted");
                    } catch (Exception e) {
                        outcome.complete(e.toString());
                    }
                });
                waiter.start();
                // Not before it waits: an interrupt that comes earlier is another case.
                Await.until("it waits for the first lock", Duration.ofSeconds(10), () -> isWaitingForAMessage(waiter));
                waiter.interrupt();
                assertThatThrownBy(() -> outcome.get(WATCHDOG.multipliedBy(3).toMillis(), TimeUnit.MILLISECONDS))
                        .isInstanceOf(TimeoutException.class);
                held.unlock();
                assertThat(outcome.get(30, TimeUnit.SECONDS)).isEqualTo("granted");
            } finally {
                one.shutdown(0, 2, TimeUnit.SECONDS);
                two.shutdown(0, 2, TimeUnit.SECONDS);
            }
        }
    }

    private static boolean isWaitingForAMessage(Thread thread) {
        return Arrays.stream(thread.getStackTrace())
                .anyMatch(frame -> frame.getClassName().equals("java.util.concurrent.Semaphore")
                        && frame.getMethodName().equals("tryAcquire"));
    }

    private static RedissonClient connect(String address) {
        Config config = new Config();
        config.setLockWatchdogTimeout(WATCHDOG.toMillis());
        config.useSingleServer().setAddress("redis://" + address).setConnectionMinimumIdleSize(2);
        return Redisson.create(config);
    }
}

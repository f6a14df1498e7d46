// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestProcess;
import io.mortise.lock.testkit.process.ChildJvm;
import io.mortise.lock.testkit.process.StdinWatchdog;
import io.mortise.lock.zookeeper.ZooKeeperLocks;
import io.mortise.lock.zookeeper.ZooKeeperTestSupport;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tests that every call ends within its time limit while the server or the holder is frozen or killed. */
@Tag("once")
class ZooKeeperFrozenTest {
    private static final Logger log = LoggerFactory.getLogger(ZooKeeperFrozenTest.class);
    private static final Duration SESSION = Duration.ofSeconds(20);
    private static final Duration REQUEST = Duration.ofSeconds(1);
    private static final Duration UNAVAILABLE = Duration.ofSeconds(3);
    /** The additional time that a loaded machine may need. */
    private static final Duration SLACK = Duration.ofSeconds(4);

    private static ZooKeeperTestProcess server;

    /** The main class of a process that holds a lock, and reports for each input line whether the lease is still held. */
    static final class Holder {
        public static void main(String[] args) throws Exception {
            LockClient client = ZooKeeperTestSupport.connectClient(args[0], Duration.ofMillis(Long.parseLong(args[1])));
            Lease lease = client.named(args[2]).acquire();
            StdinWatchdog.install(line -> System.out.println(line + "=" + lease.isHeld()), () -> {});
            System.out.println("token=" + lease.fencingToken());
            Thread.currentThread().join();
        }
    }

    @BeforeAll
    static void startServer() {
        server = ZooKeeperTestProcess.start();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    private static LockClient client(Duration session) {
        return ZooKeeperLocks.connect(
                ZooKeeperTestSupport.options(server.connectString(), session),
                ClientOptions.defaults().requestTimeout(REQUEST).unavailableAfter(UNAVAILABLE));
    }

    @Test
    void S02_S03_aFrozenHolderNoLongerHoldsTheLockWhenItResumes() throws Exception {
        Duration timeout = Duration.ofSeconds(5);
        List<String> args = List.of(server.connectString(), Long.toString(timeout.toMillis()), "frozen");
        try (LockClient client = client(SESSION);
                ChildJvm holder = ChildJvm.start(Holder.class, Map.of(), args)) {
            long token = Long.parseLong(holder.awaitLine(line -> line.startsWith("token="), Duration.ofSeconds(30))
                    .substring("token=".length()));
            holder.writeLine("before");
            assertThat(holder.nextLine(ZooKeeperTestSupport.SOON)).isEqualTo("before=true");
            for (int round = 1; round <= 3; round++) {
                holder.pause();
                Lease lease = client.named("frozen")
                        .tryAcquire(timeout.plusSeconds(15))
                        .orElseThrow();
                assertThat(lease.fencingToken()).isGreaterThan(token);
                holder.writeLine("after"); // the first line that the holder reads after it resumes
                holder.resume();
                assertThat(holder.nextLine(ZooKeeperTestSupport.SOON)).isEqualTo("after=false");
                assertThat(lease.isHeld()).isTrue();
                lease.close();
            }
        }
    }

    @Test
    void S09_S15_everyCallEndsWhileTheServerIsFrozenAndItRecovers() throws Exception {
        try (LockClient client = client(SESSION)) {
            DistributedLock lock = client.named("paused");
            lock.acquire().close();
            server.pause();
            CompletableFuture<Duration> none;
            CompletableFuture<Duration> bounded;
            CompletableFuture<Duration> unbounded;
            try {
                none = CompletableFuture.supplyAsync(() -> unavailable(lock::tryAcquire));
                bounded =
                        CompletableFuture.supplyAsync(() -> unavailable(() -> lock.tryAcquire(Duration.ofSeconds(2))));
                unbounded = CompletableFuture.supplyAsync(() -> unavailable(lock::acquire));
                assertThat(none.get(20, TimeUnit.SECONDS)).isLessThan(REQUEST.plus(SLACK));
                assertThat(bounded.get(20, TimeUnit.SECONDS))
                        .isBetween(Duration.ofSeconds(2), Duration.ofSeconds(2).plus(SLACK));
                assertThat(unbounded.get(20, TimeUnit.SECONDS)).isBetween(UNAVAILABLE, UNAVAILABLE.plus(SLACK));
            } finally {
                server.resume();
            }
            log.info("event=figures none={} two={} unbounded={}", none.get(), bounded.get(), unbounded.get());
            long start = System.nanoTime();
            lock.tryAcquire(ZooKeeperTestSupport.SOON).orElseThrow().close();
            log.info("event=figures after_resume_ms={}", (System.nanoTime() - start) / 1_000_000);
        }
    }

    private interface Call {
        Object run() throws InterruptedException;
    }

    /** Returns how long the call took to fail with an error that names the unavailable server. */
    private static Duration unavailable(Call call) {
        long start = System.nanoTime();
        assertThatThrownBy(call::run)
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining(server.connectString());
        return Duration.ofNanos(System.nanoTime() - start);
    }

    @Test
    void S03_S15_aLeaseOutlivesARestartOfTheServerAndTokensIncrease() throws Exception {
        try (LockClient client = client(SESSION.multipliedBy(3)); // long enough for a restart
                LockClient other = client(SESSION)) {
            Lease lease = client.named("restarted").acquire();
            server.kill();
            assertThat(unavailable(() -> client.named("restarted/2").tryAcquire()))
                    .isLessThan(REQUEST.plus(SLACK));
            assertThat(lease.isHeld()).isTrue();
            server.restart();
            Lease second = client.named("restarted/2")
                    .tryAcquire(ZooKeeperTestSupport.SOON)
                    .orElseThrow();
            assertThat(lease.isHeld()).isTrue();
            assertThat(other.named("restarted").tryAcquire(Duration.ofSeconds(3)))
                    .isEmpty();
            lease.close();
            Lease next = other.named("restarted")
                    .tryAcquire(ZooKeeperTestSupport.SOON)
                    .orElseThrow();
            assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
            next.close();
            second.close();
        }
    }

    @Test
    void S10_anInterruptEndsAnAcquireAtOnceWhileTheServerIsFrozen() throws Exception {
        try (LockClient client = client(SESSION)) {
            client.named("interrupted").acquire().close();
            long best = Long.MAX_VALUE;
            server.pause();
            try {
                for (int i = 0; i < 10; i++) {
                    CompletableFuture<Long> ended = new CompletableFuture<>();
                    Thread waiter = new Thread(() -> {
                        try {
                            client.named("interrupted").acquire();
                            ended.completeExceptionally(new AssertionError("granted by a frozen server"));
                        } catch (InterruptedException e) {
                            ended.complete(System.nanoTime());
                        } catch (RuntimeException e) {
                            ended.completeExceptionally(e);
                        }
                    });
                    waiter.start();
                    TimeUnit.MILLISECONDS.sleep(10L * i); // interrupts each attempt at a different step
                    long interrupted = System.nanoTime();
                    waiter.interrupt();
                    best = Math.min(best, ended.get(20, TimeUnit.SECONDS) - interrupted);
                }
            } finally {
                server.resume();
            }
            log.info("event=figures interrupt_best_us={}", best / 1000);
            assertThat(Duration.ofNanos(best)).isLessThan(Duration.ofMillis(50));
            // None of the ten waiters has left a node that blocks the queue.

            client.named("interrupted")
                    .tryAcquire(ZooKeeperTestSupport.SOON)
                    .orElseThrow()
                    .close();
        }
    }

    @Test
    void S16_closeIsBoundedWhileTheServerIsFrozen() throws Exception {
        LockClient client = client(Duration.ofSeconds(4));
        Lease lease = client.named("closed").acquire();
        CompletableFuture<Lease> waiter = client.named("closed").acquireAsync();
        server.pause();
        try {
            long start = System.nanoTime();
            client.close();
            Duration took = Duration.ofNanos(System.nanoTime() - start);
            log.info("event=figures close={}", took);
            assertThat(took).isLessThan(REQUEST.multipliedBy(2).plus(SLACK));
        } finally {
            server.resume();
        }
        assertThat(lease.isHeld()).isFalse();
        assertThatThrownBy(() -> waiter.get(10, TimeUnit.SECONDS)).isInstanceOf(ExecutionException.class);
        try (LockClient next = client(SESSION)) {
            next.named("closed").tryAcquire(Duration.ofSeconds(8)).orElseThrow().close();
        }
    }
}

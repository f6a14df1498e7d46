// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.testkit.proxy.TcpProxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Shows defects of Curator's locks by Curator's API alone. */
@Tag("peers")
class CuratorReproductionTest {
    private static final int MAX_ROUNDS = 3000;

    /** The Javadoc of acquire(time, unit): "blocks until it's available or the given time expires". */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aTimedAcquireTakesMuchLongerWhileTheServerIsSilent(boolean semaphore) throws Exception {
        try (ZooKeeperTestServer server = ZooKeeperTestServer.start();
                TcpProxy link = TcpProxy.to("127.0.0.1", server.port());
                CuratorFramework client = connect(link.address())) {
            InterProcessLock lock = semaphore
                    ? new InterProcessSemaphoreMutex(client, "/lock")
                    : new InterProcessMutex(client, "/lock");
            link.blackHole();
            long start = System.nanoTime();
            assertThatThrownBy(() -> lock.acquire(300, TimeUnit.MILLISECONDS)).isInstanceOf(Exception.class);
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofSeconds(4));
        }
    }

    /** Interrupts that race with a grant: after one of them, nobody holds the mutex and nobody can acquire it. */
    @Test
    void anInterruptedAcquireOfASemaphoreMutexLeavesALeaseNodeForTheWholeSession() throws Exception {
        try (ZooKeeperTestServer server = ZooKeeperTestServer.start();
                CuratorFramework one = connect(server.connectString());
                CuratorFramework two = connect(server.connectString())) {
            for (int round = 0; round < MAX_ROUNDS; round++) {
                InterProcessSemaphoreMutex held = new InterProcessSemaphoreMutex(one, "/lock");
                if (!held.acquire(5, TimeUnit.SECONDS)) {
                    // Longer than the session timeout, in case the node were of a session that has ended.
                    assertThat(held.acquire(10, TimeUnit.SECONDS)).isFalse();
                    assertThat(one.getChildren().forPath("/lock/leases")).hasSize(1);
                    return;
                }
                assertThat(interruptedAcquire(two, held, Duration.ofNanos(10_000L * (round % 400))))
                        .as("what an interrupted acquire throws")
                        .allSatisfy(failure -> assertThat(failure).isInstanceOf(InterruptedException.class));
            }
            throw new AssertionError("no lease node was left in " + MAX_ROUNDS + " rounds");
        }
    }

    /** Returns what the acquire has thrown; nothing if it was granted the lock, which is released then. */
    private static List<Throwable> interruptedAcquire(
            CuratorFramework client, InterProcessSemaphoreMutex held, Duration delay) throws Exception {
        List<Throwable> failures = new CopyOnWriteArrayList<>();
        AtomicBoolean decided = new AtomicBoolean();
        InterProcessSemaphoreMutex lock = new InterProcessSemaphoreMutex(client, "/lock");
        Thread waiter = new Thread(() -> {
            try {
                lock.acquire();
            } catch (Exception e) {
                failures.add(e);
                return;
            }
            // The release is not what is interrupted.
            if (!decided.compareAndSet(false, true)) {
                Await.until("the interrupt arrives", Duration.ofSeconds(10), Thread::interrupted);
            }
            try {
                lock.release();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        waiter.start();
        long start = System.nanoTime();
        held.release();
        while (System.nanoTime() - start < delay.toNanos()) {
            Thread.onSpinWait();
        }
        if (decided.compareAndSet(false, true)) {
            waiter.interrupt();
        }
        waiter.join();
        return failures;
    }

    static CuratorFramework connect(String address) throws InterruptedException {
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(address)
                .sessionTimeoutMs(6000)
                .connectionTimeoutMs(1000)
                .retryPolicy(new ExponentialBackoffRetry(1000, 3))
                .build();
        client.start();
        assertThat(client.blockUntilConnected(10, TimeUnit.SECONDS)).isTrue();
        return client;
    }
}

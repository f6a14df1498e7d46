// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.servers.zookeeper.ZooKeeperServerOptions;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.zookeeper.ZooKeeperTestSupport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests that the nodes of unused locks are deleted, and that the nodes of locks in use are kept.
 *
 * <p>Rule S17.
 */
@Tag("once")
class ZooKeeperLeftoversTest {
    private static ZooKeeperTestServer server;
    private LockClient client;
    private ZooKeeper plain;

    @BeforeAll
    static void startServer() {
        server = ZooKeeperTestServer.start(ZooKeeperServerOptions.defaults().withContainerCheck(Duration.ofMillis(50)));
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void connect() throws Exception {
        plain = ZooKeeperTestSupport.openHandle(server.connectString());
        client = ZooKeeperTestSupport.connectClient(server.connectString(), Duration.ofSeconds(20));
    }

    @AfterEach
    void close() throws Exception {
        client.close();
        plain.close();
        assertThat(server.liveEphemerals()).isEmpty();
    }

    private int lockNodes() throws Exception {
        try {
            return plain.getChildren("/locks", false).size();
        } catch (KeeperException.NoNodeException e) {
            return 0;
        }
    }

    @Test
    void S17_aThousandNamesUsedOnceLeaveNoNodeAndNoWatch() throws Exception {
        List<CompletableFuture<Integer>> all = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            all.add(client.named("once/" + i).callAsync(lease -> CompletableFuture.completedFuture(1)));
        }
        for (CompletableFuture<Integer> each : all) {
            each.get(30, TimeUnit.SECONDS);
        }
        Await.until("all lock nodes are deleted", Duration.ofSeconds(30), () -> lockNodes() == 0);
        Await.until("no watch is left", ZooKeeperTestSupport.SOON, () -> server.watchCount() == 0);
        assertThat(plain.exists("/locks", false)).isNotNull();
    }

    @Test
    void S17_theNodeOfAHeldLockIsKept() throws Exception {
        try (Lease lease = client.named("held").acquire()) {
            client.named("other").acquire().close();
            Await.until("the other lock node is deleted", Duration.ofSeconds(30), () -> lockNodes() == 1);
            assertThat(lease.isHeld()).isTrue();
            assertThat(client.named("held").tryAcquire()).isEmpty();
        }
    }

    /** Tokens increase although the sequence numbers of the nodes start again at zero. */
    @Test
    void S03_tokensIncreaseAcrossDeletionsOfTheLockNode() throws Exception {
        long last = 0;
        for (int i = 0; i < 5; i++) {
            Lease lease = client.named("again").acquire();
            assertThat(ZooKeeperTestSupport.fencingCondition(lease).node()).endsWith("lock-0000000000");
            assertThat(lease.fencingToken()).isGreaterThan(last);
            last = lease.fencingToken();
            lease.close();
            Await.until("the lock node is deleted", Duration.ofSeconds(30), () -> lockNodes() == 0);
        }
    }

    @Test
    void S17_anAcquireThatRacesWithTheDeletionOfTheLockNodeSucceeds() throws Exception {
        int acquired = 0;
        long start = System.nanoTime();
        // The remover imitates the worst case of the server: it may delete the lock node before the client creates its
        // child
        // there.
        Thread remover = new Thread(() -> {
            while (!Thread.currentThread().isInterrupted()) {
                LockSupport.parkNanos(3_000_000);
                try {
                    plain.delete("/locks/raced", -1);
                } catch (KeeperException e) {
                    // the node is missing, or not empty
                } catch (InterruptedException e) {
                    return;
                }
            }
        });
        remover.start();
        try (LockClient other = ZooKeeperTestSupport.connectClient(server.connectString(), Duration.ofSeconds(20))) {
            while (System.nanoTime() - start < 2_000_000_000L || acquired < 5) {
                try (Lease lease =
                        (acquired++ % 2 == 0 ? client : other).named("raced").acquire()) {
                    assertThat(lease.isHeld()).isTrue();
                }
            }
        } finally {
            remover.interrupt();
            remover.join();
        }
        assertThat(acquired).isGreaterThan(4);
    }
}

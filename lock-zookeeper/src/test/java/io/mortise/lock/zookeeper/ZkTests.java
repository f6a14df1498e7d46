// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockStatus;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.testkit.servers.Await;
import io.mortise.lock.testkit.servers.ZooKeeperTestServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;

/** What the tests of this module share. */
final class ZkTests {
    /** How long anything is waited for whose time is not what the test is about. */
    static final Duration SOON = Duration.ofSeconds(30);

    /** Below the fallback timer's five seconds, which would hide a lost wake-up; a slow disk may take two. */
    static final Duration WOKEN = Duration.ofSeconds(4);

    static final List<ACL> READ_ONLY = ZooDefs.Ids.READ_ACL_UNSAFE;

    private ZkTests() {}

    /** What a waiter gets that was woken. */
    static <T> T woken(CompletableFuture<T> waiter) throws Exception {
        return waiter.get(WOKEN.toMillis(), TimeUnit.MILLISECONDS);
    }

    static LockClient client(String connectString, Duration sessionTimeout) {
        return ZooKeeperLocks.connect(options(connectString, sessionTimeout), ClientOptions.defaults());
    }

    static ZooKeeperOptions options(String connectString, Duration sessionTimeout) {
        return ZooKeeperOptions.connectTo(connectString).sessionTimeout(sessionTimeout);
    }

    static LockStatus status(LockClient client, String name) throws Exception {
        return admin(client).status(name).toCompletableFuture().get(10, TimeUnit.SECONDS);
    }

    static LockAdmin admin(LockClient client) {
        return client.admin().orElseThrow();
    }

    static void awaitWaiters(LockClient client, String name, int count) {
        Await.until(count + " waiters stand in line", SOON, () -> {
            try {
                return status(client, name).waiters().size() == count;
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
    }

    /** The paths of those who stand in line for a lock, the holder first, as of now. */
    static List<String> line(ZooKeeper operator, String lock) {
        String node = lockNode(lock);
        try {
            CountDownLatch synced = new CountDownLatch(1);
            operator.sync(node, (rc, path, context) -> synced.countDown(), null);
            synced.await();
            return Contender.inLine(operator.getChildren(node, false), Optional.empty()).stream()
                    .map(contender -> node + "/" + contender.node())
                    .toList();
        } catch (KeeperException.NoNodeException e) {
            return List.of();
        } catch (KeeperException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static String lockNode(String lock) {
        return new LockPaths(ZooKeeperOptions.DEFAULT_BASE_PATH).lockNode(new LockName(lock));
    }

    static void awaitNodes(ZooKeeper operator, String lock, int count) {
        Await.until(
                count + " nodes stand in line for " + lock,
                SOON,
                () -> line(operator, lock).size() == count);
    }

    /** What clients sent since {@code before}, without pings and what renewals are made of. */
    static Map<String, Long> sent(ZooKeeperTestServer server, Map<String, Long> before) {
        Map<String, Long> sent = new TreeMap<>();
        server.requests().forEach((kind, count) -> {
            long more = count - before.getOrDefault(kind, 0L);
            if (more > 0 && !Set.of("ping", "sync", "check").contains(kind)) {
                sent.put(kind, more);
            }
        });
        return sent;
    }

    /** A plain client, connected: sees and does what an operator could. */
    static ZooKeeper connect(String connectString) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper handle = new ZooKeeper(connectString, 20_000, event -> {
            if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
                connected.countDown();
            }
        });
        if (!connected.await(10, TimeUnit.SECONDS)) {
            handle.close();
            throw new IllegalStateException("no connection to " + connectString);
        }
        return handle;
    }

    /** Makes a persistent node and all above it. */
    static void make(ZooKeeper handle, String path) throws Exception {
        for (String node : new LockPaths(path).baseNodes()) {
            if (handle.exists(node, false) == null) {
                handle.create(node, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            }
        }
    }

    static List<LockAdmin.Finding> diagnosis(LockClient client) throws Exception {
        return admin(client).diagnose().toCompletableFuture().get(10, TimeUnit.SECONDS);
    }

    static ZooKeeperGuard guard(Lease lease) {
        return lease.unwrap(ZooKeeperGuard.class).orElseThrow();
    }
}

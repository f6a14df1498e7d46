// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockStatus;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.zookeeper.queue.ContenderNode;
import io.mortise.lock.zookeeper.queue.LockPaths;
import java.time.Duration;
import java.util.List;
import java.util.Map;
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

/** Helper methods and time limits that this module's tests share. */
public final class ZooKeeperTestSupport {
    /** The time limit for steps whose duration is not under test. */
    public static final Duration SOON = Duration.ofSeconds(30);

    /** The time limit for what must not wait: below every timeout of the clients, and more than a pause of the machine for 2 s. */
    public static final Duration AT_ONCE = Duration.ofMillis(4_500);

    /**
     * Less than the five seconds of the fallback timer, which would hide a lost notification. A slow disk may take two seconds.
     */
    public static final Duration WOKEN = Duration.ofSeconds(4);

    public static final List<ACL> READ_ONLY = ZooDefs.Ids.READ_ACL_UNSAFE;

    private ZooKeeperTestSupport() {}

    /** Returns the result of a waiter that must be woken by a notification rather than by the fallback timer. */
    public static <T> T woken(CompletableFuture<T> waiter) throws Exception {
        return waiter.get(WOKEN.toMillis(), TimeUnit.MILLISECONDS);
    }

    public static LockClient connectClient(String connectString, Duration sessionTimeout) {
        return ZooKeeperLocks.connect(options(connectString, sessionTimeout), ClientOptions.defaults());
    }

    public static ZooKeeperOptions options(String connectString, Duration sessionTimeout) {
        return ZooKeeperOptions.connectTo(connectString).sessionTimeout(sessionTimeout);
    }

    public static LockStatus status(LockClient client, String name) throws Exception {
        return admin(client).status(name).toCompletableFuture().get(10, TimeUnit.SECONDS);
    }

    public static LockAdmin admin(LockClient client) {
        return client.admin().orElseThrow();
    }

    public static void awaitWaiters(LockClient client, String name, int count) {
        Await.until(
                count + " waiters are queued",
                SOON,
                () -> status(client, name).waiters().size() == count);
    }

    /** Returns the paths of the nodes in a lock's current queue, the holder first. */
    public static List<String> queue(ZooKeeper operator, String lock) {
        String node = lockNode(lock);
        try {
            CountDownLatch synced = new CountDownLatch(1);
            operator.sync(node, (rc, path, context) -> synced.countDown(), null);
            synced.await();
            return ContenderNode.queue(operator.getChildren(node, false)).stream()
                    .map(contender -> node + "/" + contender.name())
                    .toList();
        } catch (KeeperException.NoNodeException e) {
            return List.of();
        } catch (KeeperException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static String lockNode(String lock) {
        return new LockPaths(ZooKeeperOptions.DEFAULT_BASE_PATH).lockNode(new LockName(lock));
    }

    public static void awaitNodes(ZooKeeper operator, String lock, int count) {
        Await.until(
                count + " nodes are queued for " + lock,
                SOON,
                () -> queue(operator, lock).size() == count);
    }

    /** Counts the requests since {@code before}, without pings and renewals. */
    public static Map<String, Long> sent(ZooKeeperTestServer server, Map<String, Long> before) {
        Map<String, Long> sent = new TreeMap<>();
        server.requests().forEach((kind, count) -> {
            long more = count - before.getOrDefault(kind, 0L);
            if (more > 0 && !Set.of("ping", "sync", "check").contains(kind)) {
                sent.put(kind, more);
            }
        });
        return sent;
    }

    /** Opens a ZooKeeper handle that is independent of Mortise, and waits until it is connected. */
    public static ZooKeeper openHandle(String connectString) throws Exception {
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

    /** Creates a persistent node and its ancestors. */
    public static void createPath(ZooKeeper handle, String path) throws Exception {
        for (String node : new LockPaths(path).baseNodes()) {
            if (handle.exists(node, false) == null) {
                handle.create(node, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            }
        }
    }

    public static List<LockAdmin.Finding> diagnosis(LockClient client) throws Exception {
        return admin(client).diagnose().toCompletableFuture().get(10, TimeUnit.SECONDS);
    }

    /** Returns the findings of servers that run: asks again if one was too slow for a probe, as on a starved machine. */
    public static List<LockAdmin.Finding> diagnosisOfRunningServers(LockClient client) throws Exception {
        long start = System.nanoTime();
        while (true) {
            List<LockAdmin.Finding> findings = diagnosis(client);
            if (findings.stream().noneMatch(finding -> finding.what().contains("does not answer"))
                    || System.nanoTime() - start > SOON.toNanos()) {
                return findings;
            }
        }
    }

    public static ZooKeeperFencingCondition fencingCondition(Lease lease) {
        return lease.unwrap(ZooKeeperFencingCondition.class).orElseThrow();
    }
}

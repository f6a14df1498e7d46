// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.testkit.proxy.TcpProxy;
import io.mortise.lock.zookeeper.TwoClientsTest;
import io.mortise.lock.zookeeper.ZooKeeperTestSupport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests a waiter with several predecessors, which may be deleted in any order. */
@Tag("once")
class ZooKeeperDeepQueueTest extends TwoClientsTest {
    /** The positions in the queue: three predecessors of the waiter, and the waiter itself. */
    private static final int HOLDER = 0;

    private static final int TWO_AHEAD = 1;
    private static final int AHEAD = 2;
    private static final int OWN = 3;

    /**
     * A lock whose waiter is queued behind three nodes of the operator.
     *
     * @param nodes the paths of all nodes in the queue
     */
    private record Queue(String lock, List<String> nodes, CompletableFuture<Lease> waiter) {}

    @Test
    void S11_theDeletionOfTheLastPredecessorIsTheGrantWithoutARequest() throws Exception {
        Queue queue = queue("deep");
        operator.delete(queue.nodes.get(HOLDER), -1);
        Map<String, Long> before = server.requests();
        operator.delete(queue.nodes.get(TWO_AHEAD), -1);
        Await.until(
                "the waiter has listed",
                ZooKeeperTestSupport.SOON,
                () -> ZooKeeperTestSupport.sent(server, before).containsKey("getChildren"));
        assertThat(ZooKeeperTestSupport.sent(server, before)).isEqualTo(Map.of("delete", 1L, "getChildren", 1L));
        Map<String, Long> listed = server.requests();
        operator.delete(queue.nodes.get(AHEAD), -1);
        Lease lease = queue.waiter.get(10, TimeUnit.SECONDS);
        assertThat(ZooKeeperTestSupport.sent(server, listed)).isEqualTo(Map.of("delete", 1L));
        assertThat(ZooKeeperTestSupport.fencingCondition(lease).node()).isEqualTo(queue.nodes.get(OWN));
        lease.close();
    }

    @Test
    void S11_withTwoPredecessorsNoWaiterListsAgain() throws Exception {
        Queue queue = queue("two");
        operator.delete(queue.nodes.get(HOLDER), -1);
        Map<String, Long> listed = server.requests();
        operator.delete(queue.nodes.get(TWO_AHEAD), -1);
        Await.until(
                "the waiter has listed",
                ZooKeeperTestSupport.SOON,
                () -> ZooKeeperTestSupport.sent(server, listed).containsKey("getChildren"));
        CompletableFuture<Lease> next = other.named("two").acquireAsync();
        // Each session watches its own node and its predecessors: the waiter's two nodes, and the next waiter's three.
        Await.until("all watches are registered", ZooKeeperTestSupport.SOON, () -> server.watchCount() == 5);
        Map<String, Long> before = server.requests();
        operator.delete(queue.nodes.get(AHEAD), -1);
        queue.waiter.get(10, TimeUnit.SECONDS).close();
        next.get(10, TimeUnit.SECONDS).close();
        // The next waiter's first list showed both predecessors, and it was notified of both deletions, so it does not
        // list
        // again.
        assertThat(ZooKeeperTestSupport.sent(server, before)).isEqualTo(Map.of("delete", 3L));
    }

    /** The nodes are deleted in one transaction, so that no list can show only one of the deletions. */
    @Test
    void S01_theDeletionOfBothWatchedPredecessorsIsNoGrantWhileTheHolderExists() throws Exception {
        for (int i = 0; i < 20; i++) {
            Queue queue = queue("both" + i);
            Map<String, Long> before = server.requests();
            operator.multi(List.of(Op.delete(queue.nodes.get(TWO_AHEAD), -1), Op.delete(queue.nodes.get(AHEAD), -1)));
            Await.until(
                    "the waiter has listed and watches the holder",
                    ZooKeeperTestSupport.SOON,
                    () -> ZooKeeperTestSupport.sent(server, before).containsKey("getData"));
            assertThat(queue.waiter).isNotDone();
            operator.delete(queue.nodes.get(HOLDER), -1);
            ZooKeeperTestSupport.woken(queue.waiter).close();
        }
    }

    /** With a list, a hand-off would take two round trips. */
    @Test
    void S11_aHandOffTakesOneRoundTripEvenWithShortHolds() throws Exception {
        Duration oneWay = Duration.ofMillis(150); // long enough that a busy machine does not double the delay
        int waiters = 7;
        List<TcpProxy> proxies = new ArrayList<>();
        List<LockClient> clients = new ArrayList<>();
        try {
            List<CompletableFuture<Long>> granted = new ArrayList<>();
            Lease holder = other.named("far").acquire();
            for (int i = 0; i < waiters; i++) {
                proxies.add(TcpProxy.to("127.0.0.1", server.port()));
                clients.add(ZooKeeperTestSupport.connectClient(proxies.get(i).address(), SESSION));
                granted.add(clients.get(i).named("far").acquireAsync().thenApply(lease -> {
                    lease.releaseAsync();
                    return System.nanoTime();
                }));
                ZooKeeperTestSupport.awaitNodes(operator, "far", i + 2);
            }
            proxies.forEach(proxy -> proxy.delay(oneWay));
            holder.close();
            List<Long> between = new ArrayList<>();
            for (int i = 1; i < waiters; i++) {
                between.add(granted.get(i).get(10, TimeUnit.SECONDS)
                        - granted.get(i - 1).get(10, TimeUnit.SECONDS));
            }
            Collections.sort(between);
            assertThat(between.get(between.size() / 2))
                    .isLessThan(oneWay.multipliedBy(2).toNanos() * 3 / 2);
        } finally {
            clients.forEach(LockClient::close);
            proxies.forEach(TcpProxy::close);
        }
    }

    @Test
    void S01_S11_theOwnNodeAndItsPredecessorsMayBeDeletedInAnyOrder() throws Exception {
        List<List<Integer>> orders = permutations(List.of(HOLDER, TWO_AHEAD, AHEAD, OWN));
        for (List<Integer> order : orders) {
            Queue queue = queue("order-" + order);
            check(queue, order, 0, true);
        }
        for (List<Integer> order : orders) {
            Queue queue = queue("rushed-" + order);
            check(queue, order, 0, false);
        }
    }

    /** Some nodes are deleted while the waiter is cut off, so that their events arrive in any order; the others after that. */
    @Test
    void S01_S11_nodesMayBeDeletedInAnyOrderBeforeAndAfterAReconnect() throws Exception {
        List<List<Integer>> orders = permutations(List.of(HOLDER, TWO_AHEAD, AHEAD, OWN));
        List<Queue> queues = new ArrayList<>();
        for (int deleted = 1; deleted <= 4; deleted++) {
            for (List<Integer> order : orders) {
                queues.add(queue("cut-" + deleted + "-" + order));
            }
        }
        proxy.cut();
        for (int i = 0; i < queues.size(); i++) {
            for (int at : orders.get(i % orders.size()).subList(0, 1 + i / orders.size())) {
                operator.delete(queues.get(i).nodes.get(at), -1);
            }
        }
        proxy.heal();
        client.named("connected").acquire().close(); // ZooKeeper's client may take two seconds to reconnect
        for (int i = 0; i < queues.size(); i++) {
            check(queues.get(i), orders.get(i % orders.size()), 1 + i / orders.size(), true);
        }
    }

    @Test
    void S10_aWithdrawalRemovesBothWatches() throws Exception {
        Queue queue = queue("left");
        int watchesBefore = server.watchCount();
        for (int i = 0; i < 20; i++) {
            CompletableFuture<Lease> waiter = other.named("left").acquireAsync();
            // It watches its own node and its two predecessors. The first waiter's watch on its own node belongs to
            // another
            // session and is counted separately.
            Await.until(
                    "all watches are registered",
                    ZooKeeperTestSupport.SOON,
                    () -> server.watchCount() == watchesBefore + 3);
            waiter.cancel(true);
            Await.until(
                    "no watch of the second waiter is left",
                    ZooKeeperTestSupport.SOON,
                    () -> server.watchCount() == watchesBefore);
        }
        queue.waiter.cancel(true);
        Await.until("no watch is left", ZooKeeperTestSupport.SOON, () -> server.watchCount() == 0);
        for (int at = HOLDER; at < OWN; at++) {
            operator.delete(queue.nodes.get(at), -1);
        }
    }

    @Test
    void S10_S11_aWithdrawalKeepsTheWatchesOfTheNextWaiterInItsSession() throws Exception {
        Queue queue = queue("shared");
        CompletableFuture<Lease> behind = client.named("shared").acquireAsync();
        // The watched nodes are the first waiter's two predecessors and both waiters' own nodes.
        Await.until("all watches are registered", ZooKeeperTestSupport.SOON, () -> server.watchCount() == 4);
        queue.waiter.cancel(true);
        ZooKeeperTestSupport.awaitNodes(operator, "shared", 4);
        Await.until(
                "the second waiter's watches are registered",
                ZooKeeperTestSupport.SOON,
                () -> server.watchCount() == 3);
        for (int at = HOLDER; at < OWN; at++) {
            operator.delete(queue.nodes.get(at), -1);
        }
        ZooKeeperTestSupport.woken(behind).close();
    }

    /** Creates three nodes of the operator, and behind them a waiter with all its watches registered. */
    private Queue queue(String lock) throws Exception {
        String node = ZooKeeperTestSupport.lockNode(lock);
        ZooKeeperTestSupport.createPath(operator, node);
        for (int i = HOLDER; i < OWN; i++) {
            operator.create(
                    node + "/theirs-lock-", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL);
        }
        int watchesBefore = server.watchCount();
        CompletableFuture<Lease> waiter = client.named(lock).acquireAsync();
        Await.until(
                "three watches are registered",
                ZooKeeperTestSupport.SOON,
                () -> server.watchCount() == watchesBefore + 3);
        return new Queue(lock, ZooKeeperTestSupport.queue(operator, lock), waiter);
    }

    /**
     * Deletes the remaining nodes, and checks that the waiter gets the lock when its node is the head of the queue, and not
     * before.
     *
     * @param deleted the number of nodes that are already deleted
     * @param awaitEach whether to wait before each deletion until the queue shows the expected nodes
     */
    private void check(Queue queue, List<Integer> order, int deleted, boolean awaitEach) throws Exception {
        List<Integer> remaining = new ArrayList<>(order.subList(deleted, order.size()));
        while (true) {
            boolean isHead = remaining.isEmpty() || remaining.equals(List.of(OWN));
            if (isHead) {
                Lease lease = ZooKeeperTestSupport.woken(queue.waiter);
                assertThat(ZooKeeperTestSupport.queue(operator, queue.lock))
                        .containsExactly(
                                ZooKeeperTestSupport.fencingCondition(lease).node());
                lease.close();
                return;
            }
            if (awaitEach) {
                ZooKeeperTestSupport.awaitNodes(
                        operator,
                        queue.lock,
                        (int) remaining.stream().filter(at -> at != OWN).count() + 1);
            }
            assertThat(queue.waiter).isNotDone();
            operator.delete(queue.nodes.get(remaining.remove(0)), -1);
        }
    }

    private static List<List<Integer>> permutations(List<Integer> of) {
        if (of.isEmpty()) {
            return List.of(List.of());
        }
        List<List<Integer>> all = new ArrayList<>();
        for (Integer first : of) {
            List<Integer> rest = new ArrayList<>(of);
            rest.remove(first);
            for (List<Integer> tail : permutations(rest)) {
                List<Integer> order = new ArrayList<>(List.of(first));
                order.addAll(tail);
                all.add(order);
            }
        }
        return all;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.testkit.servers.Await;
import io.mortise.lock.testkit.servers.TcpProxy;
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
import org.junit.jupiter.api.Timeout;

/** Several ahead: when a waiter asks, and that those ahead may go in any order. */
@Tag("once")
@Timeout(60)
class ZooKeeperDeepQueueTest extends TwoClientsTest {
    /** Who stands in line: three ahead of the waiter, and the waiter itself. */
    private static final int HOLDER = 0;

    private static final int TWO_AHEAD = 1;
    private static final int AHEAD = 2;
    private static final int OWN = 3;

    /** One lock where a waiter of ours stands behind nodes of somebody else's. */
    private record Queue(String lock, List<String> line, CompletableFuture<Lease> waiter) {}

    @Test
    void S11_endOfTheOneAheadIsTheGrantWithoutARequest() throws Exception {
        Queue queue = queue("deep");
        operator.delete(queue.line.get(HOLDER), -1);
        Map<String, Long> before = server.requests();
        operator.delete(queue.line.get(TWO_AHEAD), -1);
        Await.until(
                "the waiter has listed",
                ZooKeeperTestSupport.SOON,
                () -> ZooKeeperTestSupport.sent(server, before).containsKey("getChildren"));
        assertThat(ZooKeeperTestSupport.sent(server, before)).isEqualTo(Map.of("delete", 1L, "getChildren", 1L));
        Map<String, Long> listed = server.requests();
        operator.delete(queue.line.get(AHEAD), -1);
        Lease lease = queue.waiter.get(10, TimeUnit.SECONDS);
        assertThat(ZooKeeperTestSupport.sent(server, listed)).isEqualTo(Map.of("delete", 1L));
        assertThat(ZooKeeperTestSupport.guard(lease).node()).isEqualTo(queue.line.get(OWN));
        lease.close();
    }

    @Test
    void S11_withTwoAheadNobodyListsAgain() throws Exception {
        Queue queue = queue("two");
        operator.delete(queue.line.get(HOLDER), -1);
        Map<String, Long> listed = server.requests();
        operator.delete(queue.line.get(TWO_AHEAD), -1);
        Await.until(
                "the waiter has listed",
                ZooKeeperTestSupport.SOON,
                () -> ZooKeeperTestSupport.sent(server, listed).containsKey("getChildren"));
        CompletableFuture<Lease> next = other.named("two").acquireAsync();
        // Of each session the own one and those ahead: the waiter's one, and its own and that one for the next.
        Await.until("all watches stand", ZooKeeperTestSupport.SOON, () -> server.watchCount() == 5);
        Map<String, Long> before = server.requests();
        operator.delete(queue.line.get(AHEAD), -1);
        queue.waiter.get(10, TimeUnit.SECONDS).close();
        next.get(10, TimeUnit.SECONDS).close();
        // The second one's first list showed both ahead, and their ends were told: it was its last.
        assertThat(ZooKeeperTestSupport.sent(server, before)).isEqualTo(Map.of("delete", 3L));
    }

    /** In one transaction, so that no list can come in between. */
    @Test
    void S01_bothAheadGoneAtOnceIsNoGrantWhileTheHolderIsThere() throws Exception {
        for (int i = 0; i < 20; i++) {
            Queue queue = queue("both" + i);
            Map<String, Long> before = server.requests();
            operator.multi(List.of(Op.delete(queue.line.get(TWO_AHEAD), -1), Op.delete(queue.line.get(AHEAD), -1)));
            Await.until(
                    "the waiter has listed and watches the holder",
                    ZooKeeperTestSupport.SOON,
                    () -> ZooKeeperTestSupport.sent(server, before).containsKey("getData"));
            assertThat(queue.waiter).isNotDone();
            operator.delete(queue.line.get(HOLDER), -1);
            ZooKeeperTestSupport.woken(queue.waiter).close();
        }
    }

    /** A list on the way of each hand-off would make it two round trips. */
    @Test
    void S11_aHandOffTakesOneRoundTripEvenIfNobodyHoldsForLong() throws Exception {
        Duration oneWay = Duration.ofMillis(150); // so long that a busy machine does not double it
        int waiters = 7;
        List<TcpProxy> lines = new ArrayList<>();
        List<LockClient> clients = new ArrayList<>();
        try {
            List<CompletableFuture<Long>> granted = new ArrayList<>();
            Lease holder = other.named("far").acquire();
            for (int i = 0; i < waiters; i++) {
                lines.add(TcpProxy.to("127.0.0.1", server.port()));
                clients.add(ZooKeeperTestSupport.connectClient(lines.get(i).address(), SESSION));
                granted.add(clients.get(i).named("far").acquireAsync().thenApply(lease -> {
                    lease.releaseAsync();
                    return System.nanoTime();
                }));
                ZooKeeperTestSupport.awaitNodes(operator, "far", i + 2);
            }
            lines.forEach(line -> line.delay(oneWay));
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
            lines.forEach(TcpProxy::close);
        }
    }

    @Test
    void S01_S11_whoIsAheadMayGoInAnyOrderAndOurOwnNodeToo() throws Exception {
        List<List<Integer>> orders = orders(List.of(HOLDER, TWO_AHEAD, AHEAD, OWN));
        for (List<Integer> order : orders) {
            Queue queue = queue("order-" + order);
            check(queue, order, 0, true);
        }
        for (List<Integer> order : orders) {
            Queue queue = queue("rushed-" + order);
            check(queue, order, 0, false);
        }
    }

    /** Some go while the waiter is cut off, so that its watches replay in any order; the others after that. */
    @Test
    void S01_S11_whoIsAheadMayGoInAnyOrderOverAReconnect() throws Exception {
        List<List<Integer>> orders = orders(List.of(HOLDER, TWO_AHEAD, AHEAD, OWN));
        List<Queue> queues = new ArrayList<>();
        for (int gone = 1; gone <= 4; gone++) {
            for (List<Integer> order : orders) {
                queues.add(queue("cut-" + gone + "-" + order));
            }
        }
        proxy.cut();
        for (int i = 0; i < queues.size(); i++) {
            for (int at : orders.get(i % orders.size()).subList(0, 1 + i / orders.size())) {
                operator.delete(queues.get(i).line.get(at), -1);
            }
        }
        proxy.heal();
        client.named("connected").acquire().close(); // ZooKeeper's client may take two seconds to come back
        for (int i = 0; i < queues.size(); i++) {
            check(queues.get(i), orders.get(i % orders.size()), 1 + i / orders.size(), true);
        }
    }

    @Test
    void S10_withdrawalTakesBothWatchesBack() throws Exception {
        Queue queue = queue("left");
        int standing = server.watchCount();
        for (int i = 0; i < 20; i++) {
            CompletableFuture<Lease> waiter = other.named("left").acquireAsync();
            // Its own one, on the one ahead, which our waiter watches too but in another session, and two ahead.
            Await.until("all watches stand", ZooKeeperTestSupport.SOON, () -> server.watchCount() == standing + 3);
            waiter.cancel(true);
            Await.until("none is left", ZooKeeperTestSupport.SOON, () -> server.watchCount() == standing);
        }
        queue.waiter.cancel(true);
        Await.until("none at all is left", ZooKeeperTestSupport.SOON, () -> server.watchCount() == 0);
        for (int at = HOLDER; at < OWN; at++) {
            operator.delete(queue.line.get(at), -1);
        }
    }

    @Test
    void S10_S11_aWithdrawalLeavesTheWatchesOfTheNextOneInItsSession() throws Exception {
        Queue queue = queue("shared");
        CompletableFuture<Lease> behind = client.named("shared").acquireAsync();
        // Two ahead of the first, which is the one ahead for the second, and their own ones.
        Await.until("all watches stand", ZooKeeperTestSupport.SOON, () -> server.watchCount() == 4);
        queue.waiter.cancel(true);
        ZooKeeperTestSupport.awaitNodes(operator, "shared", 4);
        Await.until("those of the second stand", ZooKeeperTestSupport.SOON, () -> server.watchCount() == 3);
        for (int at = HOLDER; at < OWN; at++) {
            operator.delete(queue.line.get(at), -1);
        }
        ZooKeeperTestSupport.woken(behind).close();
    }

    /** Three nodes of the operator's, and behind them a waiter whose watches stand. */
    private Queue queue(String lock) throws Exception {
        String node = ZooKeeperTestSupport.lockNode(lock);
        ZooKeeperTestSupport.createPath(operator, node);
        for (int i = HOLDER; i < OWN; i++) {
            operator.create(
                    node + "/theirs-lock-", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL);
        }
        int standing = server.watchCount();
        CompletableFuture<Lease> waiter = client.named(lock).acquireAsync();
        Await.until("three watches stand", ZooKeeperTestSupport.SOON, () -> server.watchCount() == standing + 3);
        return new Queue(lock, ZooKeeperTestSupport.queue(operator, lock), waiter);
    }

    /** Deletes those that are left, and checks after each that the waiter has the lock when it is the first, and not before. */
    private void check(Queue queue, List<Integer> order, int gone, boolean settled) throws Exception {
        List<Integer> left = new ArrayList<>(order.subList(gone, order.size()));
        while (true) {
            boolean first = left.isEmpty() || left.equals(List.of(OWN));
            if (first) {
                Lease lease = ZooKeeperTestSupport.woken(queue.waiter);
                assertThat(ZooKeeperTestSupport.queue(operator, queue.lock))
                        .containsExactly(ZooKeeperTestSupport.guard(lease).node());
                lease.close();
                return;
            }
            if (settled) {
                ZooKeeperTestSupport.awaitNodes(
                        operator,
                        queue.lock,
                        (int) left.stream().filter(at -> at != OWN).count() + 1);
            }
            assertThat(queue.waiter).isNotDone();
            operator.delete(queue.line.get(left.remove(0)), -1);
        }
    }

    private static List<List<Integer>> orders(List<Integer> of) {
        if (of.isEmpty()) {
            return List.of(List.of());
        }
        List<List<Integer>> all = new ArrayList<>();
        for (Integer first : of) {
            List<Integer> rest = new ArrayList<>(of);
            rest.remove(first);
            for (List<Integer> tail : orders(rest)) {
                List<Integer> order = new ArrayList<>(List.of(first));
                order.addAll(tail);
                all.add(order);
            }
        }
        return all;
    }
}

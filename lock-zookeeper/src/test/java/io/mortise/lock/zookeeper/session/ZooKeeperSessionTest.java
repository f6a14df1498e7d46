// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.zookeeper.TwoClientsTest;
import io.mortise.lock.zookeeper.ZooKeeperFencingCondition;
import io.mortise.lock.zookeeper.ZooKeeperLocks;
import io.mortise.lock.zookeeper.ZooKeeperOptions;
import io.mortise.lock.zookeeper.ZooKeeperTestSupport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that all leases of an ended session are lost exactly once, and that a new session replaces the ended one. */
@Tag("once")
class ZooKeeperSessionTest extends TwoClientsTest {
    private static final int LOCKS = 20;

    @Test
    void S06_S07_anExpiredSessionIsReportedOnceAndItsLeasesNeverRevive() throws Exception {
        List<Lease> held = new ArrayList<>();
        List<LossReason> losses = new CopyOnWriteArrayList<>();
        List<Lease> holders = new ArrayList<>();
        List<CompletableFuture<Lease>> waiters = new ArrayList<>();
        for (int i = 0; i < LOCKS; i++) {
            Lease lease = client.named("held" + i).acquire();
            lease.lost().thenAccept(losses::add);
            held.add(lease);
            holders.add(other.named("waited" + i).acquire());
            waiters.add(client.named("waited" + i).acquireAsync());
            ZooKeeperTestSupport.awaitNodes(operator, "waited" + i, 2);
        }
        long expired = session(held.get(0));
        // The cut imitates a real expiry: a connected client would be notified of the deleted nodes first.
        proxy.cut();
        server.expireSession(expired);
        proxy.heal();
        Await.until("all are notified", ZooKeeperTestSupport.SOON, () -> losses.size() == LOCKS);
        assertThat(losses).extracting(LossReason::kind).containsOnly(LossReason.Kind.SESSION_ENDED);
        assertThat(held).noneMatch(Lease::isHeld);
        for (int i = 0; i < LOCKS; i++) {
            ZooKeeperTestSupport.awaitNodes(operator, "waited" + i, 2); // a new queue entry, on a new session
            holders.get(i).close();
            Lease granted = ZooKeeperTestSupport.woken(waiters.get(i));
            assertThat(session(granted)).isNotEqualTo(expired);
            assertThat(granted.isHeld()).isTrue();
            Lease again = client.named("held" + i).acquire();
            assertThat(session(again)).isEqualTo(session(granted));
            assertThat(again.fencingToken()).isGreaterThan(held.get(i).fencingToken());
            assertThat(held.get(i).release()).isEqualTo(ReleaseOutcome.LOST);
            assertThat(again.isHeld()).isTrue();
            assertThat(again.release()).isEqualTo(ReleaseOutcome.RELEASED);
            granted.close();
        }
        assertThat(held).noneMatch(Lease::isHeld);
        assertThat(losses).hasSize(LOCKS);
    }

    @Test
    void S08_noNodeStaysQueuedOnAnApplicationHandleThatOutlivesTheDeadline() throws Exception {
        Duration timeout = Duration.ofSeconds(10);
        try (ZooKeeper handle = new ZooKeeper(proxy.address(), Math.toIntExact(timeout.toMillis()), event -> {});
                LockClient onHandle = ZooKeeperLocks.connect(
                        ZooKeeperOptions.using(() -> handle),
                        ClientOptions.defaults().requestTimeout(Duration.ofSeconds(1)))) {
            Lease lease = onHandle.named("mine").acquire();
            Lease holder = other.named("theirs").acquire();
            CompletableFuture<Lease> waiter = onHandle.named("theirs").acquireAsync();
            ZooKeeperTestSupport.awaitNodes(operator, "theirs", 2);
            String entry = ZooKeeperTestSupport.queue(operator, "theirs").get(1);
            long id = handle.getSessionId();
            // The client keeps reconnecting, so the session stays alive on the server.
            proxy.withholdReplies();
            Await.until("the deadline has passed", timeout, () -> !lease.isHeld());
            proxy.heal();
            ZooKeeperTestSupport.awaitNodes(operator, "mine", 0);
            boolean moved = Await.holdsWithin(ZooKeeperTestSupport.SOON, () -> {
                List<String> queue = ZooKeeperTestSupport.queue(operator, "theirs");
                return queue.size() == 2 && !queue.get(1).equals(entry);
            });
            assertThat(moved)
                    .as(
                            "the waiter, which had %s, has only a new queue entry: %s, %s",
                            entry, ZooKeeperTestSupport.queue(operator, "theirs"), waiter)
                    .isTrue();
            assertThat(handle.getSessionId()).isEqualTo(id);
            holder.close();
            Lease granted = ZooKeeperTestSupport.woken(waiter);
            assertThat(granted.release()).isEqualTo(ReleaseOutcome.RELEASED);
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.LOST);
        }
    }

    /**
     * The server deletes all nodes of a session in one step and notifies the clients in any order, while the next waiter on
     * another session is granted the lock.
     */
    @Test
    void S01_S03_theEndOfASessionWithTheHolderGrantsNothingToItsOwnWaiters() throws Exception {
        List<ZooKeeper> opened = new CopyOnWriteArrayList<>();
        ZooKeeperOptions sharedHandle = ZooKeeperOptions.using(() -> aliveOrNew(opened));
        try (LockClient one = ZooKeeperLocks.connect(sharedHandle);
                LockClient two = ZooKeeperLocks.connect(sharedHandle)) {
            for (int round = 0; round < 3; round++) {
                endSessionWithWaiters("shared" + round, one, two);
            }
        } finally {
            for (ZooKeeper handle : opened) {
                handle.close();
            }
        }
    }

    private synchronized ZooKeeper aliveOrNew(List<ZooKeeper> opened) {
        try {
            if (opened.isEmpty() || !opened.get(opened.size() - 1).getState().isAlive()) {
                opened.add(ZooKeeperTestSupport.openHandle(server.connectString()));
            }
            return opened.get(opened.size() - 1);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private void endSessionWithWaiters(String lock, LockClient one, LockClient two) throws Exception {
        int watchesBefore = server.watchCount();
        Lease first = one.named(lock).acquire();
        long expired = session(first);
        List<Lease> granted = new CopyOnWriteArrayList<>(List.of(first));
        int nodes = 1;
        for (LockClient next : List.of(one, two, other)) {
            next.named(lock).acquireAsync().thenAccept(granted::add);
            ZooKeeperTestSupport.awaitNodes(operator, lock, ++nodes);
        }
        // Three watches of the last waiter, on its own node and the two ahead, and one on each of the session's three
        // nodes.
        Await.until(
                "all watches are registered",
                ZooKeeperTestSupport.SOON,
                () -> server.watchCount() == watchesBefore + 6);
        server.expireSession(expired);
        Await.until("all but the first were granted in turn", ZooKeeperTestSupport.SOON, () -> {
            // Without the first lease: it ended by force rather than at its deadline, so it counts as held until its
            // client is
            // notified.
            List<Lease> held = granted.stream().skip(1).filter(Lease::isHeld).toList();
            // A lost lease never revives, so a lease that is held at the second check was held in between.
            assertThat(held.stream().filter(Lease::isHeld)).hasSizeLessThanOrEqualTo(1);
            if (granted.size() > 1 && ZooKeeperTestSupport.queue(operator, lock).size() == nodes(granted)) {
                granted.forEach(Lease::close);
            }
            return granted.size() == 4
                    && ZooKeeperTestSupport.queue(operator, lock).isEmpty();
        });
        assertThat(granted).extracting(Lease::fencingToken).isSorted();
        assertThat(granted.subList(1, 4)).noneMatch(lease -> session(lease) == expired);
        assertThat(first.release()).isEqualTo(ReleaseOutcome.LOST);
    }

    /** Returns how many nodes are queued once all contenders have an entry on a live session. */
    private static int nodes(List<Lease> granted) {
        return 5 - granted.size();
    }

    private static long session(Lease lease) {
        return lease.unwrap(ZooKeeperFencingCondition.class)
                .orElseThrow()
                .zooKeeper()
                .getSessionId();
    }
}

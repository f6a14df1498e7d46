// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.zookeeper.TwoClientsTest;
import io.mortise.lock.zookeeper.ZooKeeperTestSupport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests reconnects before the session ends, and deletions of nodes by an operator. */
@Tag("once")
class ZooKeeperReconnectTest extends TwoClientsTest {
    private static final Duration REQUEST = Duration.ofSeconds(1);
    private static final int ROUNDS = 25;

    @Override
    protected ClientOptions options() {
        return ClientOptions.defaults().requestTimeout(REQUEST);
    }

    @Test
    void S07_aLeaseOutlivesReconnectsAndItsWatchIsRegisteredAgain() throws Exception {
        Lease lease = client.named("kept").acquire();
        CompletableFuture<LossReason> lost = lease.lost();
        for (int i = 0; i < 3; i++) {
            reconnect(1);
            assertThat(lease.isHeld()).isTrue();
        }
        operator.delete(ZooKeeperTestSupport.queue(operator, "kept").get(0), -1);
        long start = System.nanoTime();
        assertThat(lost.get(10, TimeUnit.SECONDS).kind()).isEqualTo(LossReason.Kind.REMOVED);
        assertThat(System.nanoTime() - start).isLessThan(ZooKeeperTestSupport.WOKEN.toNanos());
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.LOST);
    }

    @Test
    void S11_aWaiterIsWokenAfterReconnects() throws Exception {
        Lease holder = other.named("woken").acquire();
        CompletableFuture<Lease> waiter = client.named("woken").acquireAsync();
        Await.until("three watches are registered", ZooKeeperTestSupport.SOON, () -> server.watchCount() == 3);
        reconnect(3);
        holder.close();
        ZooKeeperTestSupport.woken(waiter).close();
    }

    @Test
    void S11_aWaiterIsGrantedALockThatWasReleasedWhileTheWaiterWasCutOff() throws Exception {
        Lease holder = other.named("missed").acquire();
        CompletableFuture<Lease> waiter = client.named("missed").acquireAsync();
        Await.until("three watches are registered", ZooKeeperTestSupport.SOON, () -> server.watchCount() == 3);
        proxy.cut();
        holder.close();
        proxy.heal();
        Lease lease = ZooKeeperTestSupport.woken(waiter);
        assertThat(lease.isHeld()).isTrue();
        lease.close();
    }

    @Test
    void S05_S08_aReleaseWhileCutOffIsCleanedUpAfterwards() throws Exception {
        Lease lease = client.named("cut").acquire();
        Await.until("the holder's watch is registered", ZooKeeperTestSupport.SOON, () -> server.watchCount() == 1);
        proxy.cut();
        long start = System.nanoTime();
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.UNKNOWN);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(REQUEST.plusSeconds(4));
        assertThat(lease.isHeld()).isFalse();
        CompletableFuture<Lease> next = other.named("cut").acquireAsync();
        proxy.heal();
        next.get(12, TimeUnit.SECONDS).close();
    }

    @Test
    void S05_S08_aReleaseDuringAReconnectRemovesTheNode() throws Exception {
        Lease lease = client.named("short").acquire();
        proxy.resetConnections();
        ReleaseOutcome outcome = lease.release();
        assertThat(outcome).isIn(ReleaseOutcome.RELEASED, ReleaseOutcome.UNKNOWN);
        ZooKeeperTestSupport.awaitNodes(operator, "short", 0);
    }

    @Test
    void S05_S07_aNodeDeletedByAnOperatorIsALossAndTheNextWaiterIsGranted() throws Exception {
        Lease lease = client.named("deleted").acquire();
        List<LossReason> losses = new CopyOnWriteArrayList<>();
        lease.lost().thenAccept(losses::add);
        CompletableFuture<LossReason> lost = lease.lost();
        CompletableFuture<Lease> waiter = other.named("deleted").acquireAsync();
        ZooKeeperTestSupport.awaitNodes(operator, "deleted", 2);
        operator.delete(ZooKeeperTestSupport.queue(operator, "deleted").get(0), -1);
        assertThat(lost.get(10, TimeUnit.SECONDS).kind()).isEqualTo(LossReason.Kind.REMOVED);
        assertThat(lease.isHeld()).isFalse();
        Lease next = ZooKeeperTestSupport.woken(waiter);
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.LOST);
        lease.close();
        assertThat(next.isHeld()).isTrue();
        assertThat(operator.exists(
                                ZooKeeperTestSupport.queue(operator, "deleted").get(0), false)
                        .getCzxid())
                .isEqualTo(next.fencingToken())
                .isGreaterThan(lease.fencingToken());
        assertThat(next.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(losses).hasSize(1);
    }

    /**
     * After a reconnect, the events of the watches arrive in any order. The waiter's own node was deleted first, then the node
     * ahead, and another client holds the lock. Neither of the two events is a grant, whichever arrives first.
     */
    @Test
    void S01_aWaiterWhoseNodeWasDeletedBeforeItsPredecessorIsNotGranted() throws Exception {
        List<Lease> holders = new ArrayList<>();
        List<CompletableFuture<Lease>> cutOff = new ArrayList<>();
        List<CompletableFuture<Lease>> behind = new ArrayList<>();
        for (int i = 0; i < ROUNDS; i++) {
            String lock = "replay" + i;
            holders.add(other.named(lock).acquire());
            cutOff.add(client.named(lock).acquireAsync());
            ZooKeeperTestSupport.awaitNodes(operator, lock, 2);
            behind.add(other.named(lock).acquireAsync());
            ZooKeeperTestSupport.awaitNodes(operator, lock, 3);
        }
        // Per lock: two on the holder's node, by both sessions, two on the waiter's node, and one on the node behind.
        Await.until("all watches are registered", ZooKeeperTestSupport.SOON, () -> server.watchCount() == 5 * ROUNDS);
        proxy.cut();
        for (int i = 0; i < ROUNDS; i++) {
            operator.delete(ZooKeeperTestSupport.queue(operator, "replay" + i).get(1), -1);
        }
        holders.forEach(Lease::close);
        List<Lease> next = new ArrayList<>();
        for (CompletableFuture<Lease> waiter : behind) {
            next.add(ZooKeeperTestSupport.woken(waiter));
        }
        proxy.heal();
        for (int i = 0; i < ROUNDS; i++) {
            ZooKeeperTestSupport.awaitNodes(operator, "replay" + i, 2); // the waiter has a new queue entry
            assertThat(cutOff.get(i)).isNotDone();
            assertThat(next.get(i).isHeld()).isTrue();
            next.get(i).close();
            ZooKeeperTestSupport.woken(cutOff.get(i)).close();
        }
    }

    private void reconnect(int watches) {
        proxy.resetConnections();
        Await.until("the client is connected again", ZooKeeperTestSupport.SOON, () -> proxy.connections() == 1);
        Await.until(
                "the watches are registered again", ZooKeeperTestSupport.SOON, () -> server.watchCount() == watches);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LossReason;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestEnsemble;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import io.mortise.lock.testkit.proxy.TcpProxy;
import io.mortise.lock.zookeeper.ZooKeeperTestSupport;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tests that the lease of a holder that is cut off ends before the next contender is granted the lock. */
@Tag("once")
class ZooKeeperPartitionTest {
    private static final Logger log = LoggerFactory.getLogger(ZooKeeperPartitionTest.class);
    private static final Duration SESSION = Duration.ofSeconds(6);
    private static final Duration TICK = Duration.ofMillis(500);

    @Test
    void S01_S07_S11_theLeaseOfABlackHoledHolderEndsBeforeTheNextGrant() throws Exception {
        try (ZooKeeperTestServer server = ZooKeeperTestServer.start();
                TcpProxy proxy = TcpProxy.to("127.0.0.1", server.port());
                LockClient cutOff = ZooKeeperTestSupport.connectClient(proxy.address(), SESSION);
                LockClient other = ZooKeeperTestSupport.connectClient(server.connectString(), SESSION);
                ZooKeeper operator = ZooKeeperTestSupport.openHandle(server.connectString())) {
            assertLossBeforeGrant(cutOff, other, operator, "black hole", proxy::blackHole, Duration.ofMillis(200));
        }
    }

    @Test
    void S01_S07_S11_theLeaseOfAHolderOnAnIsolatedFollowerEndsBeforeTheMajorityGrants() throws Exception {
        // The follower keeps serving, pings included, for longer than the session timeout.
        try (ZooKeeperTestEnsemble ensemble = ZooKeeperTestEnsemble.start(Duration.ofSeconds(12))) {
            int leader = ensemble.leader();
            int follower = (leader + 1) % ZooKeeperTestEnsemble.SIZE;
            int majority = (leader + 2) % ZooKeeperTestEnsemble.SIZE;
            try (LockClient cutOff = ZooKeeperTestSupport.connectClient(ensemble.connectString(follower), SESSION);
                    LockClient other = ZooKeeperTestSupport.connectClient(ensemble.connectString(majority), SESSION);
                    ZooKeeper operator = ZooKeeperTestSupport.openHandle(ensemble.connectString(majority))) {
                assertLossBeforeGrant(
                        cutOff, other, operator, "isolated follower", () -> ensemble.isolate(follower), TICK);
                ensemble.heal();
            }
        }
    }

    private static void assertLossBeforeGrant(
            LockClient cutOff, LockClient other, ZooKeeper operator, String fault, Runnable cut, Duration tick)
            throws Exception {
        Lease lease = cutOff.named("cut").acquire();
        CompletableFuture<Long> notified = new CompletableFuture<>();
        CompletableFuture<LossReason> reason = new CompletableFuture<>();
        lease.lost().thenAccept(why -> {
            notified.complete(System.nanoTime());
            reason.complete(why);
        });
        CompletableFuture<Lease> waiter = other.named("cut").acquireAsync();
        CompletableFuture<Long> granted = waiter.thenApply(next -> System.nanoTime());
        CompletableFuture<Boolean> both = waiter.thenApply(next -> lease.isHeld());
        ZooKeeperTestSupport.awaitNodes(operator, "cut", 2);
        // After two renewals the deadline no longer counts from the first sync.
        LockSupport.parkNanos(SESSION.multipliedBy(2).dividedBy(5).toNanos());
        long start = System.nanoTime();
        cut.run();
        while (lease.isHeld()) {
            LockSupport.parkNanos(1_000_000);
        }
        long notHeld = System.nanoTime();
        Lease next = waiter.get(20, TimeUnit.SECONDS);
        long grantedAt = granted.get(1, TimeUnit.SECONDS);
        log.info(
                "event=figures fault=\"{}\" session_ms={} not_held_ms={} notified_ms={} granted_ms={} ahead_ms={}",
                fault,
                SESSION.toMillis(),
                (notHeld - start) / 1_000_000,
                (notified.get(1, TimeUnit.SECONDS) - start) / 1_000_000,
                (grantedAt - start) / 1_000_000,
                (grantedAt - notHeld) / 1_000_000);
        assertThat(both.get(10, TimeUnit.SECONDS)).as("two holders at once").isFalse();
        assertThat(notified.get(1, TimeUnit.SECONDS)).isLessThan(grantedAt);
        assertThat(reason.get(1, TimeUnit.SECONDS).kind()).isEqualTo(LossReason.Kind.EXPIRED);
        assertThat(Duration.ofNanos(grantedAt - start))
                .isLessThan(SESSION.plus(tick).plusSeconds(5));
        assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
        assertThat(next.isHeld()).isTrue();
        assertThat(lease.isHeld()).isFalse();
    }
}

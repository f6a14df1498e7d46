// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.servers.etcd.EtcdTestCluster;
import io.mortise.lock.servers.etcd.EtcdTestServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tests with the default options that locks keep working while any one of three members is frozen. A stopped member leaves
 * its connections open, and the others are a majority.
 */
@Tag("once")
@Tag("long")
class EtcdFrozenMemberTest {
    private static final Logger log = LoggerFactory.getLogger(EtcdFrozenMemberTest.class);

    /** The limit that S11 sets without a notification, and 3 s for a machine that stalls. */
    private static final Duration HANDED_OFF_WITHIN = Duration.ofSeconds(9);

    /** At least two renewals of the default lease are due in that time. */
    private static final Duration FROZEN = Duration.ofSeconds(10);

    private static Duration since(long start) {
        return Duration.ofNanos(System.nanoTime() - start);
    }

    @Test
    void S07_S09_S11_whileAnyMemberIsFrozenHandOffsAcquiresAndRenewalsSucceed() throws Exception {
        try (EtcdTestCluster cluster = EtcdTestCluster.start();
                LockClient holder = Locks.connect(cluster.url());
                LockClient waiter = Locks.connect(cluster.url())) {
            Lease kept = holder.named("kept").acquire();
            for (EtcdTestServer node : cluster.nodes()) {
                boolean isLeader = node == cluster.leader();
                Lease held = holder.named("x").acquire();
                CompletableFuture<Lease> waiting = waiter.named("x").acquireAsync();
                assertThat(waiter.named("x").tryAcquire())
                        .as("the waiter is queued")
                        .isEmpty();
                node.pause();
                long frozen = System.nanoTime();
                CompletableFuture<ReleaseOutcome> released = held.releaseAsync();
                assertThat(waiter.named("free").tryAcquire()).hasValueSatisfying(Lease::release);
                Duration tried = since(frozen);
                Lease next = waiting.get(20, TimeUnit.SECONDS);
                Duration handedOff = since(frozen);
                assertThat(released.get(20, TimeUnit.SECONDS)).isNotEqualTo(ReleaseOutcome.LOST);
                next.release();
                Duration shortest = kept.remaining();
                while (since(frozen).compareTo(FROZEN) < 0) {
                    try (Lease lease = waiter.named("free").tryAcquire().orElseThrow()) {
                        assertThat(lease.isHeld()).isTrue();
                    }
                    Duration remaining = kept.remaining();
                    shortest = remaining.compareTo(shortest) < 0 ? remaining : shortest;
                    TimeUnit.MILLISECONDS.sleep(20);
                }
                node.resume();
                log.info(
                        "event=thawed leader={} tried={} handed_off={} least_left={}",
                        isLeader,
                        tried,
                        handedOff,
                        shortest);
                assertThat(handedOff).as("the hand-off").isLessThan(HANDED_OFF_WITHIN);
                assertThat(shortest).as("until the deadline").isGreaterThan(Duration.ofSeconds(5));
                assertThat(kept.isHeld()).isTrue();
                cluster.awaitServing();
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LossReason;
import io.mortise.lock.redlock.storage.RedlockKeys;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** One master that does not vote for a while, and then votes again. */
@Tag("once")
class MasterReconnectTest extends ThreeLinkedMastersTest {
    private void awaitNotVoting(int master, String why) {
        Await.until(
                "it does not vote",
                SOON,
                () -> client().admin().orElseThrow().diagnose().toCompletableFuture().join().stream()
                        .anyMatch(finding ->
                                finding.what().contains(":" + link(master).port() + " does not vote")
                                        && finding.what().contains(why)));
    }

    @Test
    void S15_handshakeIsRepeatedAfterMissingPermission() throws Exception {
        bare(2, "ACL", "SETUSER", "default", "-info");
        link(2).resetConnections();
        awaitNotVoting(2, "NOPERM");
        bare(2, "ACL", "SETUSER", "default", "+info");
        awaitVotesOfAll();
    }

    @Test
    void S15_handshakeIsRepeatedAfterRestart() throws Exception {
        server(2).kill();
        awaitNotVoting(2, "not connected");
        try (Lease lease = client().named("x").acquire()) {
            assertThat(lease.isHeld()).isTrue();
        }
        server(2).restart();
        awaitNotVoting(2, "in quarantine");
        awaitVotesOfAll();
    }

    /** The renewal would be due a third of the lease later. */
    @Test
    void S07_grantMissingOnReturningMajorityIsLostAtOnce() throws Exception {
        Duration tenMinutes = Duration.ofMinutes(10);
        RedlockKeys keys = new RedlockKeys("long:");
        try (LockClient holder = RedlockLocks.connect(
                options().prefix(keys.prefix()).maxLease(tenMinutes).leaseDuration(tenMinutes),
                FiveMastersTest.LONG_TIMEOUTS)) {
            FiveMastersTest.awaitAllVote(holder);
            Lease lease = holder.named("x").acquire();
            for (int master = 1; master < 3; master++) {
                link(master).cut();
                bare(master, "DEL", keys.of(new LockName("x")).grant());
                link(master).heal();
            }
            LossReason why = lease.lost().get(30, TimeUnit.SECONDS);
            assertThat(why.kind()).isEqualTo(LossReason.Kind.REMOVED);
        } finally {
            for (int master = 0; master < 3; master++) {
                bare(master, "DEL", keys.state(), keys.of(new LockName("x")).grant());
            }
        }
        awaitVotesOfAll();
    }

    private static long connections(RawRedis redis) {
        return Long.parseLong(Objects.requireNonNull(redis.info("stats").get("total_connections_received")));
    }

    /** Another connection to the same address would lead to the same server. */
    @Test
    void S15_masterThatBecameAReplicaIsNotReconnectedRepeatedly() throws Exception {
        DistributedLock lock = client().named("x");
        try (RawRedis redis = bare(2)) {
            redis.call("REPLICAOF", "127.0.0.1", "1"); // no server
            try {
                lock.acquire().close();
                long before = connections(redis);
                long start = System.nanoTime();
                String said = "";
                while (System.nanoTime() - start < 2_000_000_000L) {
                    try (Lease lease = lock.acquire()) {
                        RedlockVoteSummary.Instance one = lease.unwrap(RedlockVoteSummary.class)
                                .orElseThrow()
                                .masters()
                                .get(2);
                        said = one.error().orElse(said);
                    }
                }
                assertThat(said).contains("READONLY");
                assertThat(connections(redis) - before).as("new connections").isZero();
            } finally {
                redis.call("REPLICAOF", "NO", "ONE");
            }
        }
        awaitVotesOfAll();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LossReason;
import io.mortise.lock.connect.BackendClients;
import io.mortise.lock.redlock.storage.RedlockKeys;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that a master votes again after it could not vote for a while. */
@Tag("once")
class MasterReconnectTest extends ThreeLinkedMastersTest {
    private void awaitNotVoting(int master, String why) {
        awaitNotVoting(client(), master, why);
    }

    private void awaitNotVoting(LockClient client, int master, String why) {
        Await.until(
                "the master does not vote",
                SOON,
                () -> client.admin().orElseThrow().diagnose().toCompletableFuture().join().stream()
                        .anyMatch(finding ->
                                finding.what().contains(":" + link(master).port() + " does not vote")
                                        && finding.what().contains(why)));
    }

    @Test
    void S15_handshakeIsRepeatedAfterMissingPermission() throws Exception {
        raw(2, "ACL", "SETUSER", "default", "-info");
        link(2).resetConnections();
        awaitNotVoting(2, "NOPERM");
        raw(2, "ACL", "SETUSER", "default", "+info");
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

    /** A clock on which no timer fires. */
    private record ClockWithoutTimers(LockClock real) implements LockClock {
        @Override
        public MonotonicInstant now() {
            return real.now();
        }

        @Override
        public Timer schedule(Duration delay, Runnable task) {
            return () -> {};
        }
    }

    /** The client has no timer for another handshake. */
    @Test
    void S15_clientLearnsByAMessageThatAnotherClientHasEndedAQuarantine() throws Exception {
        try (LockClient other = BackendClients.open(
                core -> RedlockBackend.open(options(), withClock(core, new ClockWithoutTimers(core.clock()))),
                FiveMastersTest.LONG_TIMEOUTS)) {
            FiveMastersTest.awaitAllVote(other);
            raw(2, "DEL", KEYS.state());
            other.named("x").acquire().close(); // reveals the loss
            awaitNotVoting(other, 2, "in quarantine");
            FiveMastersTest.awaitAllVote(other);
        }
    }

    /** The next regular renewal would be due only after a third of the lease. */
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
                raw(master, "DEL", keys.of(new LockName("x")).grant());
                link(master).heal();
            }
            LossReason reason = lease.lost().get(30, TimeUnit.SECONDS);
            assertThat(reason.kind()).isEqualTo(LossReason.Kind.REMOVED);
        } finally {
            for (int master = 0; master < 3; master++) {
                raw(master, "DEL", keys.state(), keys.of(new LockName("x")).grant());
            }
        }
        awaitVotesOfAll();
    }

    private static long connections(RawRedis redis) {
        return Long.parseLong(Objects.requireNonNull(redis.info("stats").get("total_connections_received")));
    }

    /** Another connection to the same address would reach the same replica. */
    @Test
    void S15_masterThatBecameAReplicaIsNotReconnectedRepeatedly() throws Exception {
        DistributedLock lock = client().named("x");
        try (RawRedis redis = raw(2)) {
            redis.call("REPLICAOF", "127.0.0.1", "1"); // no server listens there
            try {
                lock.acquire().close();
                long before = connections(redis);
                long start = System.nanoTime();
                String lastError = "";
                while (System.nanoTime() - start < 2_000_000_000L || lastError.isEmpty()) {
                    try (Lease lease = lock.acquire()) {
                        RedlockVoteSummary.Instance one = lease.unwrap(RedlockVoteSummary.class)
                                .orElseThrow()
                                .masters()
                                .get(2);
                        lastError = one.error().orElse(lastError);
                    }
                }
                assertThat(lastError).contains("READONLY");
                assertThat(connections(redis) - before).as("new connections").isZero();
            } finally {
                redis.call("REPLICAOF", "NO", "ONE");
            }
        }
        awaitVotesOfAll();
    }
}

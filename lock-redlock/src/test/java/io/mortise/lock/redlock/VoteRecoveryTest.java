// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.redlock.grant.GrantTestAccess;
import io.mortise.lock.redlock.storage.RedlockScript;
import io.mortise.lock.redlock.storage.RedlockScriptBench;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.testkit.process.Await;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Recovery of votes that a grant has lost while a majority kept it. */
@Tag("once")
class VoteRecoveryTest extends ThreeLinkedMastersTest {
    private static String value(int master) {
        try (RawRedis redis = bare(master)) {
            return String.valueOf(redis.call("GET", X.grant()));
        }
    }

    private static long calls(int master, String command) {
        try (RawRedis redis = bare(master)) {
            return redis.commandCalls().getOrDefault(command, 0L);
        }
    }

    private static void awaitVotes() {
        Await.until("all have voted", SOON, () -> has(0, X.grant()) && has(1, X.grant()) && has(2, X.grant()));
    }

    private static void awaitVoteAgain(int master, Lease lease) {
        String token = " token=" + lease.fencingToken();
        Await.until("its vote is back", SOON, () -> value(master).endsWith(token));
        assertThat(value(master)).startsWith(lease.ownerId());
    }

    @Test
    void S07_leaseSurvivesRestartsAndPausesOfSingleMasters() throws Exception {
        Lease lease = client().named("x").acquire();
        awaitVotes();
        RedisTestServer first = server(0);
        first.kill();
        first.restart();
        awaitVoteAgain(0, lease);
        server(1).pause();
        long start = System.nanoTime();
        Await.until(
                "its vote has expired",
                SOON,
                () -> System.nanoTime() - start > LEASE.plusSeconds(1).toNanos());
        server(1).resume();
        awaitVoteAgain(1, lease);
        server(2).kill();
        server(2).restart();
        awaitVoteAgain(2, lease);
        assertThat(lease.isHeld()).isTrue();
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        try (Lease next = client().named("x").acquire()) {
            assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
        }
    }

    /** One master alone lost the grant, so the lease stays valid without that vote. */
    @Test
    void S06_deletedVoteIsNotRecovered() throws Exception {
        try (Lease lease = client().named("x").acquire()) {
            awaitVotes();
            bare(0, "DEL", X.grant());
            bare(0, "CONFIG", "RESETSTAT");
            Await.until("more than a lease has passed", SOON, () -> calls(0, "getrange") >= 5);
            assertThat(has(0, X.grant())).isFalse();
            assertThat(calls(0, "set")).isZero();
            assertThat(lease.isHeld()).isTrue();
        }
    }

    private static ContenderListener waiter() {
        return new ContenderListener() {
            @Override
            public void wake() {}

            @Override
            public void lost(LossReason reason) {}
        };
    }

    /** The server does not know it by its digest, but the release: so that comes first. */
    @Test
    void S08_voteRecoveredAfterReleaseIsCleanedUp() throws Exception {
        LockRequest request = new Request(
                new LockName("x"), RedlockScriptBench.attempt(1), RedlockScriptBench.record(1), LEASE, false);
        Contender contender = backend().enqueue(request, waiter());
        AttemptResult.Granted granted = (AttemptResult.Granted)
                contender.attempt().toCompletableFuture().get(SOON.toSeconds(), TimeUnit.SECONDS);
        awaitVotes();
        bare(0, "DEL", X.grant());
        bare(0, "SCRIPT", "FLUSH");
        bare(0, "SCRIPT", "LOAD", RedlockScript.RELEASE.script().text());
        bare(0, "CONFIG", "RESETSTAT");
        GrantTestAccess.recoverVote(granted.validity(), master(0));
        assertThat(contender.end().toCompletableFuture().get(SOON.toSeconds(), TimeUnit.SECONDS))
                .isTrue();
        Await.until("it was recovered", SOON, () -> calls(0, "set") == 1);
        Await.until("and deleted again before it expires", SOON, () -> calls(0, "del") == 1);
        assertThat(has(0, X.grant())).isFalse();
        GrantTestAccess.recoverVote(granted.validity(), master(0));
        bare(0, "PING");
        assertThat(calls(0, "set")).as("no more after that").isEqualTo(1);
    }
}

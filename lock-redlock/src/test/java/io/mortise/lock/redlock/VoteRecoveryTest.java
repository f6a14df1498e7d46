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

/** Tests that a valid grant recovers votes that expired or were lost in a restart, but no deleted votes. */
@Tag("once")
class VoteRecoveryTest extends ThreeLinkedMastersTest {
    private static String value(int master) {
        try (RawRedis redis = raw(master)) {
            return String.valueOf(redis.call("GET", X.grant()));
        }
    }

    private static long calls(int master, String command) {
        try (RawRedis redis = raw(master)) {
            return redis.commandCalls().getOrDefault(command, 0L);
        }
    }

    private static void awaitVotes() {
        Await.until("all masters have voted", SOON, () -> has(0, X.grant()) && has(1, X.grant()) && has(2, X.grant()));
    }

    private static void awaitVoteAgain(int master, Lease lease) {
        String token = " token=" + lease.fencingToken();
        Await.until("the vote is recovered", SOON, () -> value(master).endsWith(token));
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
                "the vote has expired",
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

    /** Only one master lost the grant, so the lease stays valid without that vote. */
    @Test
    void S06_deletedVoteIsNotRecovered() throws Exception {
        try (Lease lease = client().named("x").acquire()) {
            awaitVotes();
            raw(0, "DEL", X.grant());
            raw(0, "CONFIG", "RESETSTAT");
            Await.until("more than a lease has passed", SOON, () -> calls(0, "get") >= 5);
            assertThat(has(0, X.grant())).isFalse();
            assertThat(calls(0, "set")).isZero();
            assertThat(lease.isHeld()).isTrue();
        }
    }

    private static ContenderListener ignoringListener() {
        return new ContenderListener() {
            @Override
            public void wake() {}

            @Override
            public void lost(LossReason reason) {}
        };
    }

    /** The server has cached only the release script, so the recovery is sent again and executed after the release. */
    @Test
    void S08_voteRecoveredAfterReleaseIsCleanedUp() throws Exception {
        LockRequest request = new Request(
                new LockName("x"), RedlockScriptBench.attempt(1), RedlockScriptBench.record(1), LEASE, false);
        Contender contender = backend().enqueue(request, ignoringListener());
        AttemptResult.Granted granted = (AttemptResult.Granted)
                contender.attempt().toCompletableFuture().get(SOON.toSeconds(), TimeUnit.SECONDS);
        awaitVotes();
        raw(0, "DEL", X.grant());
        raw(0, "SCRIPT", "FLUSH");
        raw(0, "SCRIPT", "LOAD", RedlockScript.RELEASE.script().text());
        raw(0, "CONFIG", "RESETSTAT");
        GrantTestAccess.recoverVote(granted.validity(), master(0));
        assertThat(contender.end().toCompletableFuture().get(SOON.toSeconds(), TimeUnit.SECONDS))
                .isTrue();
        Await.until("the vote was recovered", SOON, () -> calls(0, "set") == 1);
        Await.until("the vote was deleted again before it expired", SOON, () -> calls(0, "del") == 1);
        assertThat(has(0, X.grant())).isFalse();
        GrantTestAccess.recoverVote(granted.validity(), master(0));
        raw(0, "PING");
        assertThat(calls(0, "set")).as("recoveries after the release").isEqualTo(1);
    }
}

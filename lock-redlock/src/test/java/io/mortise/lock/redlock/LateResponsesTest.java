// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Lease;
import io.mortise.lock.LockOptions;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.redlock.storage.RedlockScript;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that votes that arrive after their round was decided are deleted. Also tests rounds that are lost at once. */
@Tag("once")
class LateResponsesTest extends ThreeLinkedMastersTest {
    private static long counter(RawRedis redis) {
        Object counter = redis.call("HGET", KEYS.state(), X.bucket());
        return counter == null ? 0 : Long.parseLong((String) counter);
    }

    /** Returns the head of the queue as a list of at most one attempt id. */
    private static String headOfQueue(int master) {
        try (RawRedis redis = raw(master)) {
            return String.valueOf(redis.call("ZRANGE", X.queue(), "0", "0"));
        }
    }

    /** The server has cached only the release script, so the acquire is sent again and executed after the release. */
    @Test
    void S08_voteResentAfterReleaseIsCleanedUp() throws Exception {
        client().named("x").acquire().close();
        try (RawRedis redis = raw(2)) {
            Await.until("no lock key remains", SOON, () -> redis.keys("*").equals(List.of(KEYS.state())));
            redis.call("SCRIPT", "FLUSH");
            redis.call("SCRIPT", "LOAD", RedlockScript.RELEASE.script().text());
            long before = counter(redis);
            link(2).delay(Duration.ofMillis(50));
            Lease lease = client().named("x").acquire();
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
            Await.until("the master voted after the release", SOON, () -> counter(redis) > before);
            long start = System.nanoTime();
            Await.until("the late vote is deleted", SOON, () -> !has(2, X.grant()));
            assertThat(Duration.ofNanos(System.nanoTime() - start))
                    .as("long before the end of the lease")
                    .isLessThan(LEASE.dividedBy(2));
        }
    }

    /** Its vote may remain at the master that does not reply, and blocks other contenders until the next round. */
    @Test
    void S08_anAttemptIsRepeatedSoonIfItsVoteMayNotHaveBeenDeleted() throws Exception {
        raw(0, "SET", X.grant(), "foreign");
        raw(1, "SET", X.grant(), "foreign");
        link(2).withholdReplies();
        link(0).delay(Duration.ofMillis(50)); // all requests are sent before the first replies decide the round
        link(1).delay(Duration.ofMillis(50));
        CompletableFuture<Lease> waiting = client().named("x").acquireAsync();
        try (RawRedis redis = raw(0)) {
            Await.until("the waiter is queued", SOON, () -> !headOfQueue(0).equals("[]"));
            redis.resetCommandCalls();
            long start = System.nanoTime();
            Await.until(
                    "the masters are asked again",
                    SOON,
                    () -> redis.commandCalls().getOrDefault("evalsha", 0L) > 0);
            assertThat(Duration.ofNanos(System.nanoTime() - start))
                    .as("before the fallback time of a lost hint")
                    .isLessThan(Duration.ofMillis(4_500));
        } finally {
            raw(0, "DEL", X.grant());
            raw(1, "DEL", X.grant());
        }
        waiting.get(20, TimeUnit.SECONDS).close();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void S08_roundLostWhileStartingLeavesNoVote(int running) throws Exception {
        client().named("x").acquire().close();
        for (int master = 0; master < 3; master++) {
            int at = master;
            if (at != running) {
                link(at).cut();
                Await.until(
                        "the client has noticed the lost connection",
                        SOON,
                        () -> master(at).voting() == null);
            }
        }
        CompletableFuture<Lease> waiting = client().named("x").acquireAsync();
        try (RawRedis redis = raw(running)) {
            long before = counter(redis);
            Await.until("the running master votes without a majority", SOON, () -> counter(redis) > before);
            int readsWithVote = 0;
            for (int read = 0; read < 200; read++) {
                readsWithVote += has(running, X.grant()) ? 1 : 0;
                LockSupport.parkNanos(
                        10_000_000); // spreads the reads, so that a stall of half a second affects only some
            }
            assertThat(readsWithVote).as("reads that saw its vote, of 200").isLessThan(50);
            assertThat(counter(redis)).isGreaterThan(before);
        }
        waiting.cancel(false);
    }

    @Test
    void S15_errorNamesMastersThatDidNotReply() {
        link(0).cut();
        link(2).cut();
        Await.until(
                "the client has noticed the lost connections",
                SOON,
                () -> master(0).voting() == null && master(2).voting() == null);
        assertThatThrownBy(() -> client().named("x").tryAcquire())
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageMatching(".*: acquire of lock \"x\": no quorum: 1 of 3 masters answered, these did not: "
                        + "redis://127\\.0\\.0\\.1:" + link(0).port() + " \\(not connected[^,]*\\), "
                        + "redis://127\\.0\\.0\\.1:" + link(2).port() + " \\(not connected[^,]*\\)");
    }

    /** Two foreign holders have one vote each, so the third vote gives no contender a majority. */
    @Test
    void S11_delayGrowsWithRepeatedSplitVotes() throws Exception {
        raw(0, "SET", X.grant(), "foreign");
        raw(1, "SET", X.grant(), "another foreign");
        try (RawRedis redis = raw(0)) {
            redis.resetCommandCalls();
            CompletableFuture<Lease> waiting = client().named("x").acquireAsync();
            try {
                long start = System.nanoTime();
                Await.until("some time has passed", SOON, () -> System.nanoTime() - start > 3_000_000_000L);
                assertThat(redis.commandCalls().getOrDefault("evalsha", 0L))
                        .as("rounds in three seconds")
                        .isBetween(3L, 40L);
            } finally {
                raw(0, "DEL", X.grant());
                raw(1, "DEL", X.grant());
            }
            waiting.get(20, TimeUnit.SECONDS).close();
        }
    }

    @Test
    void S14_leaseShorterThanFourNodeTimeoutsIsRejected() {
        assertThatThrownBy(() -> client().named("x", LockOptions.defaults().leaseDuration(Duration.ofSeconds(1))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("leaseDuration is PT1S", "at least PT4S", "nodeTimeout to PT0.25S");
        assertThat(client().named("x", LockOptions.defaults().leaseDuration(Duration.ofSeconds(4))))
                .isNotNull();
    }
}

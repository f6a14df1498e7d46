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

/** Votes that arrive after their round has ended, and rounds that are lost at once. */
@Tag("once")
class LateResponsesTest extends ThreeLinkedMastersTest {
    private static long counter(RawRedis redis) {
        Object counter = redis.call("HGET", KEYS.state(), X.bucket());
        return counter == null ? 0 : Long.parseLong((String) counter);
    }

    /** Returns the head of the queue, or nothing. */
    private static String first(int master) {
        try (RawRedis redis = bare(master)) {
            return String.valueOf(redis.call("ZRANGE", X.queue(), "0", "0"));
        }
    }

    /** The server does not know the acquire by its digest, but the release: so that comes first. */
    @Test
    void S08_voteResentAfterReleaseIsCleanedUp() throws Exception {
        client().named("x").acquire().close();
        try (RawRedis redis = bare(2)) {
            Await.until("nothing is left", SOON, () -> redis.keys("*").equals(List.of(KEYS.state())));
            redis.call("SCRIPT", "FLUSH");
            redis.call("SCRIPT", "LOAD", RedlockScript.RELEASE.script().text());
            long before = counter(redis);
            link(2).delay(Duration.ofMillis(50));
            Lease lease = client().named("x").acquire();
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
            Await.until("it voted after that", SOON, () -> counter(redis) > before);
            long start = System.nanoTime();
            Await.until("its vote is deleted", SOON, () -> !has(2, X.grant()));
            assertThat(Duration.ofNanos(System.nanoTime() - start))
                    .as("long before the lease's end")
                    .isLessThan(LEASE.dividedBy(2));
        }
    }

    /** Its vote, and the request that gives it back, may be executed at any time: also after the next vote. */
    @Test
    void S08_attemptIsDisplacedIfItsYieldMayBeExecutedLater() throws Exception {
        bare(0, "SET", X.grant(), "somebody");
        bare(1, "SET", X.grant(), "somebody");
        link(2).withholdReplies();
        link(0).delay(Duration.ofMillis(50)); // all are asked before the round is lost by the first answers
        link(1).delay(Duration.ofMillis(50));
        CompletableFuture<Lease> waiting = client().named("x").acquireAsync();
        try {
            Await.until("it is queued", SOON, () -> !first(0).equals("[]"));
            String id = first(0);
            long start = System.nanoTime();
            Await.until("it is queued with another id", SOON, () -> !first(0).equals(id) && !first(0).equals("[]"));
            assertThat(Duration.ofNanos(System.nanoTime() - start))
                    .as("before hints are taken for lost: its vote stands in the way of others")
                    .isLessThan(Duration.ofMillis(4_500));
        } finally {
            bare(0, "DEL", X.grant());
            bare(1, "DEL", X.grant());
        }
        waiting.get(20, TimeUnit.SECONDS).close();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void S08_roundLostWhileStartingLeavesNoVote(int living) throws Exception {
        client().named("x").acquire().close();
        for (int master = 0; master < 3; master++) {
            int at = master;
            if (at != living) {
                link(at).cut();
                Await.until("it is found dead", SOON, () -> master(at).voting() == null);
            }
        }
        CompletableFuture<Lease> waiting = client().named("x").acquireAsync();
        try (RawRedis redis = bare(living)) {
            long before = counter(redis);
            Await.until("it votes in vain", SOON, () -> counter(redis) > before);
            int seen = 0;
            for (int read = 0; read < 200; read++) {
                seen += has(living, X.grant()) ? 1 : 0;
                LockSupport.parkNanos(10_000_000); // so that a stall of half a second is not most of them
            }
            assertThat(seen).as("reads that saw its vote, of 200").isLessThan(50);
            assertThat(counter(redis)).isGreaterThan(before);
        }
        waiting.cancel(false);
    }

    @Test
    void S15_errorNamesMastersThatDidNotAnswer() {
        link(0).cut();
        link(2).cut();
        Await.until(
                "they are found dead",
                SOON,
                () -> master(0).voting() == null && master(2).voting() == null);
        assertThatThrownBy(() -> client().named("x").tryAcquire())
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageMatching(".*: acquire of lock \"x\": no quorum: 1 of 3 masters answered, these did not: "
                        + "redis://127\\.0\\.0\\.1:" + link(0).port() + " \\(not connected[^,]*\\), "
                        + "redis://127\\.0\\.0\\.1:" + link(2).port() + " \\(not connected[^,]*\\)");
    }

    /** Two others share the votes, and the third is of no use to anybody. */
    @Test
    void S11_delayGrowsWithRepeatedSplitVotes() throws Exception {
        bare(0, "SET", X.grant(), "somebody");
        bare(1, "SET", X.grant(), "somebody else");
        try (RawRedis redis = bare(0)) {
            redis.resetCommandCalls();
            CompletableFuture<Lease> waiting = client().named("x").acquireAsync();
            try {
                long start = System.nanoTime();
                Await.until("some time has passed", SOON, () -> System.nanoTime() - start > 3_000_000_000L);
                assertThat(redis.commandCalls().getOrDefault("evalsha", 0L))
                        .as("rounds in three seconds")
                        .isBetween(3L, 40L);
            } finally {
                bare(0, "DEL", X.grant());
                bare(1, "DEL", X.grant());
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

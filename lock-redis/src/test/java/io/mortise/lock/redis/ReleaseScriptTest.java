// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** {@code release.lua} alone, on a server: withdrawal, release, and how the lock is handed off. */
class ReleaseScriptTest extends RedisScriptTest {
    @Test
    void S17_itRemovesItsOwnGrantAndNothingIsLeft() {
        bench.granted(1);
        bench.redis.resetCommandCalls();
        assertThat(bench.run(RedisScript.RELEASE, ScriptBench.attempt(1), "0")).isEqualTo(List.of(1L));
        assertThat(bench.redis.commandCalls()).containsOnlyKeys("eval", "get", "exists", "del");
        assertThat(bench.keys()).containsExactly("lock:%token");
    }

    @Test
    void S05_itTouchesNoOtherGrant() {
        bench.granted(1);
        List<?> answer = bench.release(2);
        assertThat(answer.subList(0, 2)).isEqualTo(List.of(0L, 0L));
        assertThat((Long) answer.get(2)).isBetween(bench.micros() - 10_000_000, bench.micros());
        assertThat(bench.value()).startsWith(ScriptBench.record(1));
        bench.redis.call("SET", ScriptBench.KEYS.grant(), "not ours");
        assertThat(bench.release(1).get(0)).isEqualTo(0L);
        bench.redis.call("DEL", ScriptBench.KEYS.grant());
        bench.redis.call("LPUSH", ScriptBench.KEYS.grant(), "a", "list");
        assertThat(bench.release(1).get(0)).isEqualTo(0L);
        assertThat(bench.redis.call("LLEN", ScriptBench.KEYS.grant())).isEqualTo(2L);
    }

    /** What a client is told by a message, which may be forged, takes only from itself. */
    @Test
    void S19_withAMarkItRemovesNothingThatDoesNotHaveIt() {
        String attempt = ScriptBench.attempt(1);
        bench.granted(1);
        assertThat(bench.run(RedisScript.RELEASE, attempt, "0", " client=other"))
                .isEqualTo(List.of(0L));
        assertThat(bench.value()).startsWith(ScriptBench.record(1));
        bench.acquire(2, bench.listen("c2"));
        assertThat(bench.run(RedisScript.RELEASE, attempt, "0", " client=other").subList(0, 2))
                .isEqualTo(List.of(0L, 0L));
        assertThat(bench.run(RedisScript.RELEASE, ScriptBench.attempt(2), "0", " client=other")
                        .subList(0, 2))
                .as("nor a queue entry")
                .isEqualTo(List.of(0L, 0L));
        assertThat(bench.value()).startsWith(ScriptBench.record(1));
        assertThat(bench.run(RedisScript.RELEASE, attempt, "0", " mode=x").get(0))
                .isEqualTo(1L);
        assertThat(bench.value()).startsWith(ScriptBench.record(2));
    }

    @Test
    void S12_itHandsOnToTheFirstWithAFreshValueAndItsOwnLease() {
        long first = bench.granted(1);
        bench.acquire(2, bench.listen("c2"));
        bench.acquire(3, bench.listen("c3"));
        long before = bench.micros();
        List<String> published =
                bench.published(() -> assertThat(bench.release(1).get(0)).isEqualTo(1L));
        assertThat(published).hasSize(1);
        String[] told = published.get(0).split(" ", -1);
        assertThat(told[0]).isEqualTo("c2");
        GrantMessage.Granted message = (GrantMessage.Granted)
                GrantMessage.parse(published.get(0).substring(3)).orElseThrow();
        assertThat(message.attemptId()).isEqualTo(ScriptBench.attempt(2));
        assertThat(message.token()).isGreaterThan(first);
        assertThat(message.time().micros()).isBetween(before, bench.micros());
        assertThat(bench.value()).startsWith(ScriptBench.record(2) + " token=" + message.token() + " row=1:");
        assertThat((Long) bench.redis.call("PTTL", ScriptBench.KEYS.grant()))
                .isBetween(ScriptBench.LEASE_MILLIS - 5_000, ScriptBench.LEASE_MILLIS);
        assertThat(bench.acquire(2, "c2").subList(0, 2))
                .as("asked again")
                .isEqualTo(List.of("granted", message.token()));
        assertThat(bench.redis.call("ZRANGE", ScriptBench.KEYS.queue(), "0", "-1"))
                .isEqualTo(List.of(ScriptBench.attempt(3)));
    }

    @Test
    void S08_repeatedItChangesNothing() {
        bench.granted(1);
        bench.acquire(2, bench.listen("c2"));
        bench.release(1);
        String value = bench.value();
        assertThat(bench.published(
                        () -> assertThat(bench.release(1).subList(0, 2)).isEqualTo(List.of(0L, 0L))))
                .isEmpty();
        assertThat(bench.value()).isEqualTo(value);
    }

    @Test
    void S10_aWithdrawnPlaceIsGone() {
        bench.granted(1);
        bench.acquire(2, bench.listen("c2"));
        bench.acquire(3, bench.listen("c3"));
        assertThat(bench.release(2).subList(0, 2)).isEqualTo(List.of(0L, 1L));
        assertThat(bench.published(() -> bench.release(1)).get(0)).startsWith("c3 G " + ScriptBench.attempt(3));
        bench.release(3);
        assertThat(bench.keys()).containsExactly("lock:%token");
    }

    @Test
    void S17_theLastPlaceTakesTheQueueWithIt() {
        bench.granted(1);
        bench.acquire(2, "c2");
        bench.release(2);
        assertThat(bench.keys()).containsExactly("lock:%token", "lock:x");
    }

    @Test
    void S12_thoseWhoseProcessIsGoneAreSkipped() {
        bench.granted(1);
        bench.acquire(2, "nobody-listens");
        bench.acquire(3, bench.listen("c3"));
        bench.release(1);
        assertThat(bench.value()).startsWith(ScriptBench.record(3));
        bench.acquire(4, "nobody-listens");
        bench.release(3);
        assertThat(bench.keys()).containsExactly("lock:%token");
    }

    @Test
    void S12_thoseWhoHaveNotAskedForTooLongAreSkipped() {
        bench.granted(1);
        bench.acquire(2, bench.listen("c2"));
        bench.timeOut(2);
        bench.acquire(3, bench.listen("c3"));
        bench.release(1);
        assertThat(bench.value()).startsWith(ScriptBench.record(3));
    }

    @Test
    void S12_afterSixteenInARowTheLockIsLeftFreeOnceAndTheFirstInTheQueueIsWoken() {
        bench.granted(1);
        for (int i = 2; i <= 20; i++) {
            bench.acquire(i, bench.listen("c"));
        }
        for (int i = 1; i <= 16; i++) {
            bench.rowBeganNow();
            bench.release(i);
            assertThat(bench.value()).startsWith(ScriptBench.record(i + 1));
        }
        bench.rowBeganNow();
        assertThat(bench.published(() -> bench.release(17)))
                .singleElement()
                .asString()
                .startsWith("c W " + ScriptBench.attempt(18) + " ");
        assertThat(bench.value()).as("free").isEqualTo("null");
        // A newcomer neither takes it nor hands it on: whoever is not queued gets a chance.
        List<?> newcomer = bench.acquire(21, "c");
        assertThat(newcomer.get(0)).isEqualTo("busy");
        assertThat((Long) newcomer.get(1)).isBetween(1L, 1_000L);
        assertThat(bench.redis.call("SET", ScriptBench.KEYS.grant(), "somebody", "NX", "PX", "9000"))
                .isEqualTo("OK");
        assertThat(bench.acquire(18, "c").get(0)).isEqualTo("busy");
        bench.redis.call("DEL", ScriptBench.KEYS.grant());
        assertThat(bench.acquire(18, "c").get(0)).isEqualTo("granted");
        assertThat(bench.value()).doesNotContain("row=");
        bench.release(18);
        assertThat(bench.value()).startsWith(ScriptBench.record(19)).contains(" row=1:");
    }

    @Test
    void S12_aRowEndsAfterASecondToo() {
        bench.granted(1);
        bench.acquire(2, bench.listen("c"));
        bench.release(1);
        bench.acquire(3, bench.listen("c"));
        long before = bench.micros() - 1_000_001;
        bench.redis.call(
                "SET", ScriptBench.KEYS.grant(), ScriptBench.record(2) + " token=7 row=1:" + before, "PX", "9000");
        assertThat(bench.published(() -> bench.release(2)))
                .singleElement()
                .asString()
                .startsWith("c W " + ScriptBench.attempt(3) + " ");
    }

    @Test
    void S11_aWakeThatNobodyFollowsIsOverAfterASecond() {
        bench.granted(1);
        bench.acquire(2, bench.listen("frozen"));
        bench.redis.call("DEL", ScriptBench.KEYS.grant());
        bench.redis.call("HSET", ScriptBench.KEYS.entries(), "wake", String.valueOf(bench.micros() - 1_000_001));
        assertThat(bench.published(() -> bench.acquire(3, "c")).get(0)).startsWith("frozen G ");
    }

    @Test
    void S11_whoWithdrawsWhileTheLockIsFreeServesTheNext() {
        bench.granted(1);
        bench.acquire(2, bench.listen("c2"));
        bench.acquire(3, bench.listen("c3"));
        bench.redis.call("DEL", ScriptBench.KEYS.grant());
        bench.redis.call("HSET", ScriptBench.KEYS.entries(), "wake", String.valueOf(bench.micros()));
        assertThat(bench.published(() -> bench.release(2)).get(0)).startsWith("c3 G " + ScriptBench.attempt(3));
        assertThat(bench.value()).startsWith(ScriptBench.record(3));
    }
}

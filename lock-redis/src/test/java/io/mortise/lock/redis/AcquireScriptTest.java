// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.servers.redis.RawRedis;
import java.util.List;
import org.junit.jupiter.api.Test;

/** {@code acquire.lua} alone, on a server. */
class AcquireScriptTest extends RedisScriptTest {
    @Test
    void aFreeLockIsGrantedWithItsLeaseAndToken() {
        long before = bench.micros();
        List<?> answer = bench.acquire(1, "");
        assertThat(answer.get(0)).isEqualTo("granted");
        long token = (Long) answer.get(1);
        assertThat(token).isBetween(before, bench.micros());
        assertThat(bench.value()).isEqualTo(ScriptBench.record(1) + " token=" + token);
        assertThat((Long) bench.redis.call("PTTL", ScriptBench.KEYS.grant()))
                .isBetween(ScriptBench.LEASE_MILLIS - 5_000, ScriptBench.LEASE_MILLIS);
        assertThat(bench.keys()).containsExactly("lock:%token", "lock:x");
    }

    @Test
    void uncontendedItRunsFourCommands() {
        bench.redis.resetCommandCalls();
        bench.acquire(1, "some-channel");
        assertThat(bench.redis.commandCalls())
                .containsOnlyKeys("eval", "time", "exists", "getset", "set")
                .containsEntry("set", 1L);
    }

    @Test
    void S08_theSameAttemptHasTheSameGrantAndAFullLease() {
        long token = bench.granted(1);
        bench.redis.call("PEXPIRE", ScriptBench.KEYS.grant(), "5000");
        assertThat(bench.granted(1)).isEqualTo(token);
        assertThat((Long) bench.redis.call("PTTL", ScriptBench.KEYS.grant())).isGreaterThan(50_000);
    }

    @Test
    void S08_whatComesAfterItsTimeIsNotExecuted() {
        List<?> answer = bench.acquire(1, bench.listen("c"), bench.micros() - 1);
        assertThat(answer.get(0)).isEqualTo("late");
        assertThat((Long) answer.get(1)).isPositive();
        assertThat(bench.keys()).isEmpty();
    }

    @Test
    void S03_tokensRiseOverReleaseExpiryAndALostOrFutureCounter() {
        long first = bench.granted(1);
        bench.release(1);
        long second = bench.granted(2);
        assertThat(second).isGreaterThan(first);
        bench.redis.call("DEL", ScriptBench.KEYS.grant());
        long third = bench.granted(3);
        assertThat(third).isGreaterThan(second);
        bench.redis.call("FLUSHALL");
        long fourth = bench.granted(4);
        assertThat(fourth).isGreaterThan(third);
        bench.release(4);
        long future = bench.micros() + 3_600_000_000L; // the clock was set back
        bench.redis.call("SET", ScriptBench.KEYS.counter(), String.valueOf(future));
        assertThat(bench.granted(5)).isEqualTo(future + 1);
        bench.release(5);
        assertThat(bench.granted(6)).isEqualTo(future + 2);
    }

    @Test
    void aBusyLockQueuesWhoWaitsAndNobodyElse() {
        bench.granted(1);
        List<?> answer = bench.acquire(2, "");
        assertThat(answer.get(0)).isEqualTo("busy");
        assertThat((Long) answer.get(1)).isBetween(ScriptBench.LEASE_MILLIS - 5_000, ScriptBench.LEASE_MILLIS);
        assertThat(bench.keys()).containsExactly("lock:%token", "lock:x");
        bench.acquire(3, "c");
        bench.acquire(4, "c");
        bench.acquire(3, "c");
        assertThat(bench.redis.call("ZRANGE", ScriptBench.KEYS.queue(), "0", "-1"))
                .isEqualTo(List.of(ScriptBench.attempt(3), ScriptBench.attempt(4)));
        assertThat(bench.redis.call("HLEN", ScriptBench.KEYS.entries())).isEqualTo(2L);
        for (String key : List.of(ScriptBench.KEYS.queue(), ScriptBench.KEYS.entries())) {
            assertThat((Long) bench.redis.call("PTTL", key))
                    .as("later than the last entry in it")
                    .isBetween(ScriptBench.STANDS_MILLIS + 1, 2 * ScriptBench.STANDS_MILLIS);
        }
    }

    @Test
    void S12_theOrderIsThatOfArrivalAlsoWhenTheClockIsSetBack() {
        bench.granted(1);
        bench.acquire(2, "c");
        long future = bench.micros() + 3_600_000_000L;
        bench.redis.call("ZADD", ScriptBench.KEYS.queue(), String.valueOf(future), ScriptBench.attempt(2));
        bench.acquire(3, "c");
        assertThat(bench.redis.call("ZRANGE", ScriptBench.KEYS.queue(), "0", "-1"))
                .isEqualTo(List.of(ScriptBench.attempt(2), ScriptBench.attempt(3)));
    }

    @Test
    void S12_aNewcomerDoesNotOvertakeAndHandsOnWhatADeadHolderLeft() {
        bench.granted(1);
        bench.acquire(2, bench.listen("c2"));
        bench.redis.call("DEL", ScriptBench.KEYS.grant()); // its time is over
        List<String> published = bench.published(
                () -> assertThat(bench.acquire(3, bench.listen("c3")).get(0)).isEqualTo("busy"));
        assertThat(published).hasSize(1);
        assertThat(published.get(0)).startsWith("c2 G " + ScriptBench.attempt(2) + " ");
        assertThat(bench.value()).startsWith(ScriptBench.record(2));
        assertThat(bench.acquire(2, "c2").get(0)).isEqualTo("granted");
    }

    @Test
    void S11_theFirstInTheQueueIsGrantedWhenItAsks() {
        bench.granted(1);
        bench.acquire(2, "c");
        bench.redis.call("DEL", ScriptBench.KEYS.grant());
        assertThat(bench.acquire(2, "c").get(0)).isEqualTo("granted");
        assertThat(bench.keys()).containsExactly("lock:%token", "lock:x");
    }

    @Test
    void S12_theDeadAreSkipped() {
        bench.granted(1);
        bench.acquire(2, bench.listen("c"));
        bench.timeOut(2);
        bench.acquire(3, "nobody-listens");
        bench.redis.call("DEL", ScriptBench.KEYS.grant());
        assertThat(bench.acquire(4, "").get(0)).isEqualTo("granted");
        assertThat(bench.keys()).containsExactly("lock:%token", "lock:x");
    }

    @Test
    void aForeignHolderIsWaitedForAndAForeignTypeRefused() {
        bench.redis.call("SET", ScriptBench.KEYS.grant(), "not ours", "NX", "PX", "30000");
        List<?> answer = bench.acquire(1, "");
        assertThat(answer.get(0)).isEqualTo("busy");
        assertThat((Long) answer.get(1)).isBetween(25_000L, 30_000L);
        bench.redis.call("PERSIST", ScriptBench.KEYS.grant());
        assertThat(bench.acquire(1, "").get(1)).as("no end known").isEqualTo(-1L);
        assertThat(bench.value()).isEqualTo("not ours");
        bench.redis.call("DEL", ScriptBench.KEYS.grant());
        bench.redis.call("LPUSH", ScriptBench.KEYS.grant(), "a", "list");
        assertThatThrownBy(() -> bench.acquire(1, ""))
                .isInstanceOf(RawRedis.ErrorReply.class)
                .hasMessageStartingWith("WRONGTYPE");
    }
}

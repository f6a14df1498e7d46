// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.servers.redis.RawRedis;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests {@code acquire.lua} by direct calls on a server. */
class AcquireScriptTest extends RedisLockScriptTest {
    @Test
    void aFreeLockIsGrantedWithItsLeaseAndToken() {
        long before = fixture.micros();
        List<?> reply = fixture.acquire(1, "");
        assertThat(reply.get(0)).isEqualTo("granted");
        long token = (Long) reply.get(1);
        assertThat(token).isBetween(before, fixture.micros());
        assertThat(fixture.value()).isEqualTo(ScriptFixture.record(1) + " token=" + token);
        assertThat((Long) fixture.redis.call("PTTL", ScriptFixture.KEYS.grant()))
                .isBetween(ScriptFixture.LEASE_MILLIS - 5_000, ScriptFixture.LEASE_MILLIS);
        assertThat(fixture.keys()).containsExactly("lock:%token", "lock:x");
    }

    @Test
    void uncontendedItRunsFourCommands() {
        fixture.redis.resetCommandCalls();
        fixture.acquire(1, "some-channel");
        assertThat(fixture.redis.commandCalls())
                .containsOnlyKeys("eval", "time", "exists", "getset", "set")
                .containsEntry("set", 1L);
    }

    @Test
    void S08_theSameAttemptHasTheSameGrantAndAFullLease() {
        long token = fixture.granted(1);
        fixture.redis.call("PEXPIRE", ScriptFixture.KEYS.grant(), "5000");
        assertThat(fixture.granted(1)).isEqualTo(token);
        assertThat((Long) fixture.redis.call("PTTL", ScriptFixture.KEYS.grant()))
                .isGreaterThan(50_000);
    }

    @Test
    void S08_aRequestThatArrivesTooLateIsNotExecuted() {
        List<?> reply = fixture.acquire(1, fixture.listen("c"), fixture.micros() - 1);
        assertThat(reply.get(0)).isEqualTo("late");
        assertThat((Long) reply.get(1)).isPositive();
        assertThat(fixture.keys()).isEmpty();
    }

    @Test
    void S03_tokensIncreaseOverReleaseExpiryAndALostOrFutureCounter() {
        long first = fixture.granted(1);
        fixture.release(1);
        long second = fixture.granted(2);
        assertThat(second).isGreaterThan(first);
        fixture.redis.call("DEL", ScriptFixture.KEYS.grant());
        long third = fixture.granted(3);
        assertThat(third).isGreaterThan(second);
        fixture.redis.call("FLUSHALL");
        long fourth = fixture.granted(4);
        assertThat(fourth).isGreaterThan(third);
        fixture.release(4);
        long future = fixture.micros() + 3_600_000_000L; // the clock was set back
        fixture.redis.call("SET", ScriptFixture.KEYS.counter(), String.valueOf(future));
        assertThat(fixture.granted(5)).isEqualTo(future + 1);
        fixture.release(5);
        assertThat(fixture.granted(6)).isEqualTo(future + 2);
    }

    @Test
    void aBusyLockQueuesOnlyAttemptsThatWait() {
        fixture.granted(1);
        List<?> reply = fixture.acquire(2, "");
        assertThat(reply.get(0)).isEqualTo("busy");
        assertThat((Long) reply.get(1)).isBetween(ScriptFixture.LEASE_MILLIS - 5_000, ScriptFixture.LEASE_MILLIS);
        assertThat(fixture.keys()).containsExactly("lock:%token", "lock:x");
        fixture.acquire(3, "c");
        fixture.acquire(4, "c");
        fixture.acquire(3, "c");
        assertThat(fixture.redis.call("ZRANGE", ScriptFixture.KEYS.queue(), "0", "-1"))
                .isEqualTo(List.of(ScriptFixture.attempt(3), ScriptFixture.attempt(4)));
        assertThat(fixture.redis.call("HLEN", ScriptFixture.KEYS.entries())).isEqualTo(2L);
        for (String key : List.of(ScriptFixture.KEYS.queue(), ScriptFixture.KEYS.entries())) {
            assertThat((Long) fixture.redis.call("PTTL", key))
                    .as("expires after its last entry")
                    .isBetween(ScriptFixture.ENTRY_MILLIS + 1, 2 * ScriptFixture.ENTRY_MILLIS);
        }
    }

    @Test
    void S12_theOrderIsThatOfArrivalAlsoWhenTheClockIsSetBack() {
        fixture.granted(1);
        fixture.acquire(2, "c");
        long future = fixture.micros() + 3_600_000_000L;
        fixture.redis.call("ZADD", ScriptFixture.KEYS.queue(), String.valueOf(future), ScriptFixture.attempt(2));
        fixture.acquire(3, "c");
        assertThat(fixture.redis.call("ZRANGE", ScriptFixture.KEYS.queue(), "0", "-1"))
                .isEqualTo(List.of(ScriptFixture.attempt(2), ScriptFixture.attempt(3)));
    }

    @Test
    void S12_aNewcomerDoesNotOvertakeAndHandsOffTheLockOfADeadHolder() {
        fixture.granted(1);
        fixture.acquire(2, fixture.listen("c2"));
        fixture.redis.call("DEL", ScriptFixture.KEYS.grant()); // it expired
        List<String> published = fixture.published(() ->
                assertThat(fixture.acquire(3, fixture.listen("c3")).get(0)).isEqualTo("busy"));
        assertThat(published).hasSize(1);
        assertThat(published.get(0)).startsWith("c2 G " + ScriptFixture.attempt(2) + " ");
        assertThat(fixture.value()).startsWith(ScriptFixture.record(2));
        assertThat(fixture.acquire(2, "c2").get(0)).isEqualTo("granted");
    }

    @Test
    void S11_theFirstInTheQueueIsGrantedAtItsNextRequest() {
        fixture.granted(1);
        fixture.acquire(2, "c");
        fixture.redis.call("DEL", ScriptFixture.KEYS.grant());
        assertThat(fixture.acquire(2, "c").get(0)).isEqualTo("granted");
        assertThat(fixture.keys()).containsExactly("lock:%token", "lock:x");
    }

    @Test
    void S12_deadEntriesAreSkipped() {
        fixture.granted(1);
        fixture.acquire(2, fixture.listen("c"));
        fixture.timeOut(2);
        fixture.acquire(3, "nobody-listens");
        fixture.redis.call("DEL", ScriptFixture.KEYS.grant());
        assertThat(fixture.acquire(4, "").get(0)).isEqualTo("granted");
        assertThat(fixture.keys()).containsExactly("lock:%token", "lock:x");
    }

    @Test
    void aForeignHolderMakesTheLockBusyAndAForeignTypeIsRefused() {
        fixture.redis.call("SET", ScriptFixture.KEYS.grant(), "not ours", "NX", "PX", "30000");
        List<?> reply = fixture.acquire(1, "");
        assertThat(reply.get(0)).isEqualTo("busy");
        assertThat((Long) reply.get(1)).isBetween(25_000L, 30_000L);
        fixture.redis.call("PERSIST", ScriptFixture.KEYS.grant());
        assertThat(fixture.acquire(1, "").get(1)).as("no expiry").isEqualTo(-1L);
        assertThat(fixture.value()).isEqualTo("not ours");
        fixture.redis.call("DEL", ScriptFixture.KEYS.grant());
        fixture.redis.call("LPUSH", ScriptFixture.KEYS.grant(), "a", "list");
        assertThatThrownBy(() -> fixture.acquire(1, ""))
                .isInstanceOf(RawRedis.ErrorReply.class)
                .hasMessageStartingWith("WRONGTYPE");
    }
}

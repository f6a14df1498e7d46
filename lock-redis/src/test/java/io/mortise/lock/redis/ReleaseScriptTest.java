// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests {@code release.lua} by direct calls on a server: release, withdrawal and hand-off. */
class ReleaseScriptTest extends RedisLockScriptTest {
    @Test
    void S17_aReleaseRemovesTheGrantAndLeavesNothing() {
        fixture.granted(1);
        fixture.redis.resetCommandCalls();
        assertThat(fixture.run(RedisLockScript.RELEASE, ScriptFixture.attempt(1), "0"))
                .isEqualTo(List.of(1L));
        assertThat(fixture.redis.commandCalls()).containsOnlyKeys("eval", "get", "exists", "del");
        assertThat(fixture.keys()).containsExactly("lock:%token");
    }

    @Test
    void S05_aReleaseTouchesNoOtherGrant() {
        fixture.granted(1);
        List<?> reply = fixture.release(2);
        assertThat(reply.subList(0, 2)).isEqualTo(List.of(0L, 0L));
        assertThat((Long) reply.get(2)).isBetween(fixture.micros() - 10_000_000, fixture.micros());
        assertThat(fixture.value()).startsWith(ScriptFixture.record(1));
        fixture.redis.call("SET", ScriptFixture.KEYS.grant(), "not ours");
        assertThat(fixture.release(1).get(0)).isEqualTo(0L);
        fixture.redis.call("DEL", ScriptFixture.KEYS.grant());
        fixture.redis.call("LPUSH", ScriptFixture.KEYS.grant(), "a", "list");
        assertThat(fixture.release(1).get(0)).isEqualTo(0L);
        assertThat(fixture.redis.call("LLEN", ScriptFixture.KEYS.grant())).isEqualTo(2L);
    }

    /** A release after a message, which may be forged, removes only grants of the client's own. */
    @Test
    void S19_aReleaseWithAMarkRemovesNothingWithoutThatMark() {
        String attempt = ScriptFixture.attempt(1);
        fixture.granted(1);
        assertThat(fixture.run(RedisLockScript.RELEASE, attempt, "0", " client=other"))
                .isEqualTo(List.of(0L));
        assertThat(fixture.value()).startsWith(ScriptFixture.record(1));
        fixture.acquire(2, fixture.listen("c2"));
        assertThat(fixture.run(RedisLockScript.RELEASE, attempt, "0", " client=other")
                        .subList(0, 2))
                .isEqualTo(List.of(0L, 0L));
        assertThat(fixture.run(RedisLockScript.RELEASE, ScriptFixture.attempt(2), "0", " client=other")
                        .subList(0, 2))
                .as("nor a queue entry")
                .isEqualTo(List.of(0L, 0L));
        assertThat(fixture.value()).startsWith(ScriptFixture.record(1));
        assertThat(fixture.run(RedisLockScript.RELEASE, attempt, "0", " mode=x").get(0))
                .isEqualTo(1L);
        assertThat(fixture.value()).startsWith(ScriptFixture.record(2));
    }

    @Test
    void S12_aReleaseHandsOffToTheFirstWithANewTokenAndItsOwnLease() {
        long first = fixture.granted(1);
        fixture.acquire(2, fixture.listen("c2"));
        fixture.acquire(3, fixture.listen("c3"));
        long before = fixture.micros();
        List<String> published =
                fixture.published(() -> assertThat(fixture.release(1).get(0)).isEqualTo(1L));
        assertThat(published).hasSize(1);
        String[] parts = published.get(0).split(" ", -1);
        assertThat(parts[0]).isEqualTo("c2");
        GrantMessage.Granted message = (GrantMessage.Granted)
                GrantMessage.parse(published.get(0).substring(3)).orElseThrow();
        assertThat(message.attemptId()).isEqualTo(ScriptFixture.attempt(2));
        assertThat(message.token()).isGreaterThan(first);
        assertThat(message.time().micros()).isBetween(before, fixture.micros());
        assertThat(fixture.value()).startsWith(ScriptFixture.record(2) + " token=" + message.token() + " row=1:");
        assertThat((Long) fixture.redis.call("PTTL", ScriptFixture.KEYS.grant()))
                .isBetween(ScriptFixture.LEASE_MILLIS - 5_000, ScriptFixture.LEASE_MILLIS);
        assertThat(fixture.acquire(2, "c2").subList(0, 2))
                .as("the repeated request")
                .isEqualTo(List.of("granted", message.token()));
        assertThat(fixture.redis.call("ZRANGE", ScriptFixture.KEYS.queue(), "0", "-1"))
                .isEqualTo(List.of(ScriptFixture.attempt(3)));
    }

    @Test
    void S08_aRepeatedReleaseChangesNothing() {
        fixture.granted(1);
        fixture.acquire(2, fixture.listen("c2"));
        fixture.release(1);
        String value = fixture.value();
        assertThat(fixture.published(
                        () -> assertThat(fixture.release(1).subList(0, 2)).isEqualTo(List.of(0L, 0L))))
                .isEmpty();
        assertThat(fixture.value()).isEqualTo(value);
    }

    @Test
    void S10_aWithdrawalRemovesTheQueueEntry() {
        fixture.granted(1);
        fixture.acquire(2, fixture.listen("c2"));
        fixture.acquire(3, fixture.listen("c3"));
        assertThat(fixture.release(2).subList(0, 2)).isEqualTo(List.of(0L, 1L));
        assertThat(fixture.published(() -> fixture.release(1)).get(0)).startsWith("c3 G " + ScriptFixture.attempt(3));
        fixture.release(3);
        assertThat(fixture.keys()).containsExactly("lock:%token");
    }

    @Test
    void S17_theLastWithdrawalDeletesTheQueue() {
        fixture.granted(1);
        fixture.acquire(2, "c2");
        fixture.release(2);
        assertThat(fixture.keys()).containsExactly("lock:%token", "lock:x");
    }

    @Test
    void S12_entriesOfDeadProcessesAreSkipped() {
        fixture.granted(1);
        fixture.acquire(2, "nobody-listens");
        fixture.acquire(3, fixture.listen("c3"));
        fixture.release(1);
        assertThat(fixture.value()).startsWith(ScriptFixture.record(3));
        fixture.acquire(4, "nobody-listens");
        fixture.release(3);
        assertThat(fixture.keys()).containsExactly("lock:%token");
    }

    @Test
    void S12_expiredEntriesAreSkipped() {
        fixture.granted(1);
        fixture.acquire(2, fixture.listen("c2"));
        fixture.timeOut(2);
        fixture.acquire(3, fixture.listen("c3"));
        fixture.release(1);
        assertThat(fixture.value()).startsWith(ScriptFixture.record(3));
    }

    @Test
    void S12_afterSixteenInARowTheLockIsLeftFreeOnceAndTheFirstInTheQueueIsWoken() {
        fixture.granted(1);
        for (int i = 2; i <= 20; i++) {
            fixture.acquire(i, fixture.listen("c"));
        }
        for (int i = 1; i <= 16; i++) {
            fixture.rowBeganNow();
            fixture.release(i);
            assertThat(fixture.value()).startsWith(ScriptFixture.record(i + 1));
        }
        fixture.rowBeganNow();
        assertThat(fixture.published(() -> fixture.release(17)))
                .singleElement()
                .asString()
                .startsWith("c W " + ScriptFixture.attempt(18) + " ");
        assertThat(fixture.value()).as("free").isEqualTo("null");
        // A newcomer neither acquires the lock nor hands it off, so that clients without a queue get a chance.
        List<?> newcomer = fixture.acquire(21, "c");
        assertThat(newcomer.get(0)).isEqualTo("busy");
        assertThat((Long) newcomer.get(1)).isBetween(1L, 1_000L);
        assertThat(fixture.redis.call("SET", ScriptFixture.KEYS.grant(), "somebody", "NX", "PX", "9000"))
                .isEqualTo("OK");
        assertThat(fixture.acquire(18, "c").get(0)).isEqualTo("busy");
        fixture.redis.call("DEL", ScriptFixture.KEYS.grant());
        assertThat(fixture.acquire(18, "c").get(0)).isEqualTo("granted");
        assertThat(fixture.value()).doesNotContain("row=");
        fixture.release(18);
        assertThat(fixture.value()).startsWith(ScriptFixture.record(19)).contains(" row=1:");
    }

    @Test
    void S12_aRowEndsAfterASecondToo() {
        fixture.granted(1);
        fixture.acquire(2, fixture.listen("c"));
        fixture.release(1);
        fixture.acquire(3, fixture.listen("c"));
        long before = fixture.micros() - 1_000_001;
        fixture.redis.call(
                "SET", ScriptFixture.KEYS.grant(), ScriptFixture.record(2) + " token=7 row=1:" + before, "PX", "9000");
        assertThat(fixture.published(() -> fixture.release(2)))
                .singleElement()
                .asString()
                .startsWith("c W " + ScriptFixture.attempt(3) + " ");
    }

    @Test
    void S11_aWakeWithoutARequestExpiresAfterASecond() {
        fixture.granted(1);
        fixture.acquire(2, fixture.listen("frozen"));
        fixture.redis.call("DEL", ScriptFixture.KEYS.grant());
        fixture.redis.call("HSET", ScriptFixture.KEYS.entries(), "wake", String.valueOf(fixture.micros() - 1_000_001));
        assertThat(fixture.published(() -> fixture.acquire(3, "c")).get(0)).startsWith("frozen G ");
    }

    @Test
    void S11_aWithdrawalWhileTheLockIsFreeServesTheNext() {
        fixture.granted(1);
        fixture.acquire(2, fixture.listen("c2"));
        fixture.acquire(3, fixture.listen("c3"));
        fixture.redis.call("DEL", ScriptFixture.KEYS.grant());
        fixture.redis.call("HSET", ScriptFixture.KEYS.entries(), "wake", String.valueOf(fixture.micros()));
        assertThat(fixture.published(() -> fixture.release(2)).get(0)).startsWith("c3 G " + ScriptFixture.attempt(3));
        assertThat(fixture.value()).startsWith(ScriptFixture.record(3));
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.spi.OwnerRecordCodec;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Tests {@code renew.lua}, {@code release_after.lua}, {@code force_release.lua} and {@code status.lua} by direct calls on a server. */
class OtherScriptsTest extends RedisLockScriptTest {
    @Test
    void S06_renewExtendsOwnGrantsAndCreatesNone() {
        fixture.granted(1);
        fixture.redis.call("SET", "lock:foreign", "not ours", "PX", "5000");
        fixture.redis.call("LPUSH", "lock:list", "a");
        List<?> reply = fixture.run(
                RedisLockScript.RENEW,
                List.of("lock:x", "lock:foreign", "lock:list", "lock:gone", "lock:x"),
                ScriptFixture.attempt(1),
                "100000",
                ScriptFixture.attempt(1),
                "100000",
                ScriptFixture.attempt(1),
                "100000",
                ScriptFixture.attempt(1),
                "100000",
                ScriptFixture.attempt(2),
                "200000");
        assertThat(reply).isEqualTo(List.of(1L, 0L, 0L, 0L, 0L));
        assertThat((Long) fixture.redis.call("PTTL", "lock:x")).isBetween(90_000L, 100_000L);
        assertThat((Long) fixture.redis.call("PTTL", "lock:foreign")).isLessThanOrEqualTo(5_000L);
        assertThat(fixture.keys()).containsExactly("lock:%token", "lock:foreign", "lock:list", "lock:x");
    }

    private List<?> releaseAfter(int number, String delayMillis) {
        String lastToken = String.valueOf(fixture.redis.call("GET", ScriptFixture.KEYS.counter()));
        return fixture.run(RedisLockScript.RELEASE_AFTER, ScriptFixture.attempt(number), delayMillis, lastToken);
    }

    private long millisLeft() {
        return (Long) Objects.requireNonNull(fixture.redis.call("PTTL", ScriptFixture.KEYS.grant()));
    }

    @Test
    void S05_lateRequestsOfAReleasedAttemptDoNotChangeTheKeptGrant() {
        fixture.granted(1);
        String released = fixture.value();
        assertThat(releaseAfter(1, "20000").get(0)).isEqualTo(1L);
        assertThat(fixture.run(RedisLockScript.RENEW, List.of("lock:x"), ScriptFixture.attempt(1), "100000"))
                .isEqualTo(List.of(0L));
        assertThat(fixture.acquire(1, "").get(0)).isEqualTo("busy");
        assertThat(fixture.release(1).get(0)).isEqualTo(0L);
        assertThat(fixture.value()).isEqualTo("~" + released);
        assertThat(millisLeft()).isBetween(1L, 20_000L);
    }

    @Test
    void S05_aRepeatedDelayedReleaseKeepsTheGrantNoLonger() {
        fixture.granted(1);
        assertThat(releaseAfter(1, "100000").get(0)).as("longer than the lease").isEqualTo(1L);
        assertThat(millisLeft()).isGreaterThan(ScriptFixture.LEASE_MILLIS);
        assertThat(releaseAfter(1, "20000").get(0)).isEqualTo(1L);
        assertThat(releaseAfter(1, "100000").get(0)).as("executed late").isEqualTo(1L);
        assertThat(millisLeft()).isBetween(1L, 20_000L);
    }

    @Test
    void S05_aDelayedReleaseOfAnotherGrantKeepsNothing() {
        assertThat(releaseAfter(1, "20000").get(0)).isEqualTo(0L);
        assertThat(fixture.keys()).isEmpty();
        fixture.granted(1);
        String value = fixture.value();
        assertThat(releaseAfter(2, "20000").get(0)).isEqualTo(0L);
        assertThat(releaseAfter(1, "20000").get(0)).isEqualTo(1L);
        assertThat(releaseAfter(2, "10000").get(0)).isEqualTo(0L);
        assertThat(fixture.value()).isEqualTo("~" + value);
        fixture.redis.call("DEL", ScriptFixture.KEYS.grant());
        fixture.redis.call("LPUSH", ScriptFixture.KEYS.grant(), "a");
        assertThat(releaseAfter(1, "20000").get(0)).isEqualTo(0L);
    }

    @Test
    void S18_aKeptGrantNamesItsLastOwnerAndIsReleasedByForce() {
        fixture.granted(1);
        releaseAfter(1, "20000");
        String shown = String.valueOf(fixture.run(RedisLockScript.STATUS).get(0));
        assertThat(OwnerRecordCodec.attemptId(shown.substring(1))).contains(ScriptFixture.attempt(1));
        assertThat(fixture.run(RedisLockScript.FORCE_RELEASE, shown.substring(1)))
                .isEqualTo(List.of(1L));
        assertThat(fixture.keys()).containsExactly("lock:%token");
    }

    /** An acquire of the attempt was in doubt, and was executed after the forced release. */
    @Test
    void S05_S18_aRepeatedDelayedReleaseDoesNotUndoAForcedRelease() {
        String token = String.valueOf(fixture.granted(1));
        releaseAfter(1, "20000");
        fixture.run(RedisLockScript.FORCE_RELEASE, fixture.value());
        fixture.granted(1);
        fixture.acquire(2, fixture.listen("c2"));
        List<?> reply = fixture.run(RedisLockScript.RELEASE_AFTER, ScriptFixture.attempt(1), "20000", token);
        assertThat(reply.get(0)).isEqualTo(0L);
        assertThat(fixture.value()).startsWith(ScriptFixture.record(2));
    }

    @Test
    void S11_aDelayedReleaseThatFindsTheLockFreeServesTheNext() {
        fixture.granted(1);
        fixture.acquire(2, fixture.listen("c2"));
        fixture.redis.call("DEL", ScriptFixture.KEYS.grant());
        assertThat(fixture.published(
                        () -> assertThat(releaseAfter(1, "20000").get(0)).isEqualTo(0L)))
                .singleElement()
                .asString()
                .startsWith("c2 G " + ScriptFixture.attempt(2));
    }

    @Test
    void S05_aFullServerExecutesADelayedRelease() {
        fixture.granted(1);
        fixture.redis.call("CONFIG", "SET", "maxmemory", "1");
        try {
            assertThat(releaseAfter(1, "20000").get(0)).isEqualTo(1L);
        } finally {
            fixture.redis.call("CONFIG", "SET", "maxmemory", "0");
        }
        assertThat(millisLeft()).isBetween(1L, 20_000L);
    }

    /** The error messages of Redis and of Valkey. */
    private static final String FORBIDDEN = ".*(can't run|no permissions).*";

    @Test
    void S07_aGrantThatMayNotBeReadIsAnErrorNotALoss() {
        fixture.granted(1);
        fixture.redis.call("ACL", "SETUSER", "default", "-getrange", "-get");
        try {
            assertThatThrownBy(() ->
                            fixture.run(RedisLockScript.RENEW, List.of("lock:x"), ScriptFixture.attempt(1), "100000"))
                    .hasMessageMatching(FORBIDDEN);
            assertThatThrownBy(() -> fixture.run(RedisLockScript.RELEASE, ScriptFixture.attempt(1), "0"))
                    .hasMessageMatching(FORBIDDEN);
        } finally {
            fixture.redis.call("ACL", "SETUSER", "default", "+getrange", "+get");
        }
        assertThat(fixture.run(RedisLockScript.RELEASE, ScriptFixture.attempt(1), "0"))
                .isEqualTo(List.of(1L));
    }

    @Test
    void S18_aForcedReleaseEndsExactlyTheGrantThatWasSeenAndServesTheNext() {
        fixture.granted(1);
        String seen = fixture.value();
        assertThat(fixture.run(RedisLockScript.FORCE_RELEASE, seen + "x")).isEqualTo(List.of(0L));
        assertThat(fixture.value()).isEqualTo(seen);
        fixture.acquire(2, fixture.listen("c2"));
        assertThat(fixture.run(RedisLockScript.FORCE_RELEASE, seen)).isEqualTo(List.of(1L));
        assertThat(fixture.value()).startsWith(ScriptFixture.record(2));
        assertThat(fixture.run(RedisLockScript.FORCE_RELEASE, seen)).isEqualTo(List.of(0L));
        assertThat(fixture.run(RedisLockScript.FORCE_RELEASE, fixture.value())).isEqualTo(List.of(1L));
        assertThat(fixture.keys()).containsExactly("lock:%token");
        assertThat(fixture.run(RedisLockScript.FORCE_RELEASE, "")).isEqualTo(List.of(0L));
    }

    @Test
    void S18_statusReturnsTheHolderAndTheWaiters() {
        assertThat(fixture.run(RedisLockScript.STATUS)).isEqualTo(List.of(""));
        fixture.granted(1);
        fixture.acquire(2, "c");
        fixture.acquire(3, "c");
        fixture.timeOut(3);
        fixture.acquire(4, "c");
        assertThat(fixture.run(RedisLockScript.STATUS))
                .isEqualTo(List.of("=" + fixture.value(), ScriptFixture.record(2), ScriptFixture.record(4)));
        fixture.redis.call("DEL", ScriptFixture.KEYS.grant());
        fixture.redis.call("LPUSH", ScriptFixture.KEYS.grant(), "a");
        assertThat(fixture.run(RedisLockScript.STATUS).get(0)).isEqualTo("=(not a string)");
    }

    @Test
    void theDigestIsTheSameAsTheServers() {
        for (RedisLockScript script : RedisLockScript.values()) {
            assertThat(fixture.redis.call("SCRIPT", "LOAD", script.script().text()))
                    .isEqualTo(script.script().sha1());
        }
    }

    /** Uses the documented pattern of SET NX PX and compare-and-delete with raw commands. */
    @Test
    void S01_theDocumentedPatternExcludesAndIsExcluded() {
        String compareAndDelete =
                "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end";
        RawRedis redis = fixture.redis;
        fixture.granted(1);
        assertThat(redis.call("SET", "lock:x", "random", "NX", "PX", "30000")).isNull();
        assertThat(redis.call("EVAL", compareAndDelete, "1", "lock:x", "random"))
                .isEqualTo(0L);
        fixture.release(1);
        assertThat(redis.call("SET", "lock:x", "random", "NX", "PX", "30000")).isEqualTo("OK");
        assertThat(fixture.acquire(2, fixture.listen("c")).get(0)).isEqualTo("busy");
        assertThat(redis.call("EVAL", compareAndDelete, "1", "lock:x", "random"))
                .isEqualTo(1L);
        assertThat(fixture.acquire(2, "c").get(0)).isEqualTo("granted");
    }
}

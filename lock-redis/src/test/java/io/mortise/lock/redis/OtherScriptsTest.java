// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.servers.redis.RawRedis;
import java.util.List;
import org.junit.jupiter.api.Test;

/** {@code renew.lua}, {@code force_release.lua} and {@code status.lua} alone, on a server. */
class OtherScriptsTest extends RedisScriptTest {
    @Test
    void S06_renewExtendsWhatIsOursAndMakesNothing() {
        bench.granted(1);
        bench.redis.call("SET", "lock:foreign", "not ours", "PX", "5000");
        bench.redis.call("LPUSH", "lock:list", "a");
        List<?> answer = bench.run(
                RedisScript.RENEW,
                List.of("lock:x", "lock:foreign", "lock:list", "lock:gone", "lock:x"),
                ScriptBench.attempt(1),
                "100000",
                ScriptBench.attempt(1),
                "100000",
                ScriptBench.attempt(1),
                "100000",
                ScriptBench.attempt(1),
                "100000",
                ScriptBench.attempt(2),
                "200000");
        assertThat(answer).isEqualTo(List.of(1L, 0L, 0L, 0L, 0L));
        assertThat((Long) bench.redis.call("PTTL", "lock:x")).isBetween(90_000L, 100_000L);
        assertThat((Long) bench.redis.call("PTTL", "lock:foreign")).isLessThanOrEqualTo(5_000L);
        assertThat(bench.keys()).containsExactly("lock:%token", "lock:foreign", "lock:list", "lock:x");
    }

    /** As Redis says it, and Valkey. */
    private static final String FORBIDDEN = ".*(can't run|no permissions).*";

    @Test
    void S07_whatMayNotBeReadIsAnErrorNotALoss() {
        bench.granted(1);
        bench.redis.call("ACL", "SETUSER", "default", "-getrange", "-get");
        try {
            assertThatThrownBy(() -> bench.run(RedisScript.RENEW, List.of("lock:x"), ScriptBench.attempt(1), "100000"))
                    .hasMessageMatching(FORBIDDEN);
            assertThatThrownBy(() -> bench.run(RedisScript.RELEASE, ScriptBench.attempt(1), "0"))
                    .hasMessageMatching(FORBIDDEN);
        } finally {
            bench.redis.call("ACL", "SETUSER", "default", "+getrange", "+get");
        }
        assertThat(bench.run(RedisScript.RELEASE, ScriptBench.attempt(1), "0")).isEqualTo(List.of(1L));
    }

    @Test
    void S18_aForcedReleaseTakesExactlyWhatWasSeenAndServesTheNext() {
        bench.granted(1);
        String seen = bench.value();
        assertThat(bench.run(RedisScript.FORCE_RELEASE, seen + "x")).isEqualTo(List.of(0L));
        assertThat(bench.value()).isEqualTo(seen);
        bench.acquire(2, bench.listen("c2"));
        assertThat(bench.run(RedisScript.FORCE_RELEASE, seen)).isEqualTo(List.of(1L));
        assertThat(bench.value()).startsWith(ScriptBench.record(2));
        assertThat(bench.run(RedisScript.FORCE_RELEASE, seen)).isEqualTo(List.of(0L));
        assertThat(bench.run(RedisScript.FORCE_RELEASE, bench.value())).isEqualTo(List.of(1L));
        assertThat(bench.keys()).containsExactly("lock:%token");
        assertThat(bench.run(RedisScript.FORCE_RELEASE, "")).isEqualTo(List.of(0L));
    }

    @Test
    void S18_statusIsTheHolderAndThoseWhoWait() {
        assertThat(bench.run(RedisScript.STATUS)).isEqualTo(List.of(""));
        bench.granted(1);
        bench.acquire(2, "c");
        bench.acquire(3, "c");
        bench.timeOut(3);
        bench.acquire(4, "c");
        assertThat(bench.run(RedisScript.STATUS))
                .isEqualTo(List.of("=" + bench.value(), ScriptBench.record(2), ScriptBench.record(4)));
        bench.redis.call("DEL", ScriptBench.KEYS.grant());
        bench.redis.call("LPUSH", ScriptBench.KEYS.grant(), "a");
        assertThat(bench.run(RedisScript.STATUS).get(0)).isEqualTo("=(not a string)");
    }

    @Test
    void theDigestIsTheServersOwn() {
        for (RedisScript script : RedisScript.values()) {
            assertThat(bench.redis.call("SCRIPT", "LOAD", script.script().text()))
                    .isEqualTo(script.script().sha1());
        }
    }

    /** With the documented pattern of SET NX PX and compare-and-delete, by bare commands. */
    @Test
    void S01_theDocumentedPatternExcludesAndIsExcluded() {
        String compareAndDelete =
                "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end";
        RawRedis redis = bench.redis;
        bench.granted(1);
        assertThat(redis.call("SET", "lock:x", "random", "NX", "PX", "30000")).isNull();
        assertThat(redis.call("EVAL", compareAndDelete, "1", "lock:x", "random"))
                .isEqualTo(0L);
        bench.release(1);
        assertThat(redis.call("SET", "lock:x", "random", "NX", "PX", "30000")).isEqualTo("OK");
        assertThat(bench.acquire(2, bench.listen("c")).get(0)).isEqualTo("busy");
        assertThat(redis.call("EVAL", compareAndDelete, "1", "lock:x", "random"))
                .isEqualTo(1L);
        assertThat(bench.acquire(2, "c").get(0)).isEqualTo("granted");
    }
}

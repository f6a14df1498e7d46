// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisScriptFixture;
import io.mortise.lock.spi.LockName;
import java.util.List;
import java.util.Objects;

/** A server and bare commands, for scripts alone. */
final class ScriptFixture extends RedisScriptFixture {
    static final String PREFIX = "lock:";
    static final RedisKeyLayout.OfLock KEYS = new RedisKeyLayout(PREFIX).of(new LockName("x"));
    static final long LEASE_MILLIS = 60_000;
    static final String NONCE = "0f".repeat(16);
    static final long STANDS_MILLIS = 20_000;

    final RawRedis redis = redis();

    /** As somebody else. */
    RawRedis connect(String user, String password) {
        return RawRedis.connect(server().port(), user, password);
    }

    List<?> run(RedisScript script, String... args) {
        return run(script, List.of(KEYS.all()), args);
    }

    List<?> run(RedisScript script, List<String> keys, String... args) {
        return eval(script.script().text(), keys, args);
    }

    /** An attempt that waits on that channel, or does not if it is empty. */
    List<?> acquire(int number, String channel) {
        return acquire(number, channel, micros() + 5_000_000);
    }

    /** It has not asked again in time, though nobody has noticed yet. */
    void timeOut(int number) {
        String entry = String.valueOf(redis.call("HGET", KEYS.entries(), attempt(number)));
        redis.call("HSET", KEYS.entries(), attempt(number), entry.replaceFirst("^(\\S+ \\d+) \\d+ ", "$1 1 "));
    }

    List<?> acquire(int number, String channel, long notAfter) {
        List<?> answer = run(
                RedisScript.ACQUIRE,
                attempt(number),
                record(number),
                String.valueOf(LEASE_MILLIS),
                String.valueOf(notAfter),
                channel,
                String.valueOf(STANDS_MILLIS),
                NONCE);
        boolean alone = answer.size() == 1; // granted: the time, which is the token as well
        return alone ? List.of("granted", answer.get(0), answer.get(0)) : answer;
    }

    List<?> release(int number) {
        return run(RedisScript.RELEASE, attempt(number), "1");
    }

    /** Granted, with that token. */
    long granted(int number) {
        List<?> answer = acquire(number, "");
        if (!"granted".equals(answer.get(0))) {
            throw new AssertionError("not granted: " + answer);
        }
        return (Long) Objects.requireNonNull(answer.get(1));
    }

    /** However long it took until here: a row ends after a second too. Nothing if the grant is in no row yet. */
    void rowBeganNow() {
        String value = value();
        redis.call("SET", KEYS.grant(), value.replaceFirst("( row=\\d+:)\\d+", "$1" + micros()), "KEEPTTL");
    }

    String value() {
        return String.valueOf(redis.call("GET", KEYS.grant()));
    }
}

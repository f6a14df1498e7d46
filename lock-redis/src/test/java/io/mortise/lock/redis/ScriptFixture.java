// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisScriptFixture;
import io.mortise.lock.spi.LockName;
import java.util.List;
import java.util.Objects;

/** A server and a raw connection, for tests that call scripts directly. */
final class ScriptFixture extends RedisScriptFixture {
    static final String PREFIX = "lock:";
    static final RedisKeyLayout.OfLock KEYS = new RedisKeyLayout(PREFIX).of(new LockName("x"));
    static final long LEASE_MILLIS = 60_000;
    static final String NONCE = "0f".repeat(16);
    static final long ENTRY_MILLIS = 20_000;

    final RawRedis redis = redis();

    /** Opens a connection as another user. */
    RawRedis connect(String user, String password) {
        return RawRedis.connect(server().port(), user, password);
    }

    List<?> run(RedisLockScript script, String... args) {
        return run(script, List.of(KEYS.all()), args);
    }

    List<?> run(RedisLockScript script, List<String> keys, String... args) {
        return eval(script.script().text(), keys, args);
    }

    /** Sends an acquire that waits on that channel, or does not wait if the channel is empty. */
    List<?> acquire(int number, String channel) {
        return acquire(number, channel, micros() + 5_000_000);
    }

    /** Makes the attempt's queue entry expire, which no script has noticed yet. */
    void timeOut(int number) {
        String entry = String.valueOf(redis.call("HGET", KEYS.entries(), attempt(number)));
        redis.call("HSET", KEYS.entries(), attempt(number), entry.replaceFirst("^(\\S+ \\d+) \\d+ ", "$1 1 "));
    }

    List<?> acquire(int number, String channel, long notAfter) {
        List<?> reply = run(
                RedisLockScript.ACQUIRE,
                attempt(number),
                record(number),
                String.valueOf(LEASE_MILLIS),
                String.valueOf(notAfter),
                channel,
                String.valueOf(ENTRY_MILLIS),
                NONCE);
        boolean tokenOnly = reply.size() == 1; // the lock was granted, and the token is the server's time
        return tokenOnly ? List.of("granted", reply.get(0), reply.get(0)) : reply;
    }

    List<?> release(int number) {
        return run(RedisLockScript.RELEASE, attempt(number), "1");
    }

    /** Acquires the lock and returns the token. */
    long granted(int number) {
        List<?> reply = acquire(number, "");
        if (!"granted".equals(reply.get(0))) {
            throw new AssertionError("not granted: " + reply);
        }
        return (Long) Objects.requireNonNull(reply.get(1));
    }

    /** Restarts the time of the present row of hand-offs, which would end after a second; does nothing without a row. */
    void rowBeganNow() {
        String value = value();
        redis.call("SET", KEYS.grant(), value.replaceFirst("( row=\\d+:)\\d+", "$1" + micros()), "KEEPTTL");
    }

    String value() {
        return String.valueOf(redis.call("GET", KEYS.grant()));
    }
}

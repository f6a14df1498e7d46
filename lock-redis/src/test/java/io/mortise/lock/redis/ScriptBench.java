// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.spi.LockName;
import io.mortise.lock.testkit.servers.BareRedis;
import io.mortise.lock.testkit.servers.RedisTestServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A server and bare commands, for scripts alone. */
final class ScriptBench implements AutoCloseable {
    static final String PREFIX = "lock:";
    static final RedisKeys.OfLock KEYS = new RedisKeys(PREFIX).of(new LockName("x"));
    static final long LEASE_MILLIS = 60_000;
    static final long STANDS_MILLIS = 20_000;

    private static final Pattern PUBLISHED = Pattern.compile(".* lua] \"(?i:publish)\" \"([^\"]+)\" \"([^\"]+)\"");

    private final RedisTestServer server = RedisTestServer.start();
    final BareRedis redis = server.connect();
    private final List<BareRedis> listeners = new ArrayList<>();

    /** 32 hexadecimal digits that end in this one. */
    static String attempt(int number) {
        return String.format("%032x", number);
    }

    static String record(int number) {
        return attempt(number) + " m1 mode=x host=h pid=1 since=2026-01-01T00:00:00Z";
    }

    /** The channel of a process that listens from now on. */
    String listen(String channel) {
        BareRedis listener = server.connect();
        listener.call("SUBSCRIBE", channel);
        listeners.add(listener);
        return channel;
    }

    /** As somebody else. */
    BareRedis connect(String user, String password) {
        return BareRedis.connect(server.port(), user, password);
    }

    /** No process listens any more. */
    void stopListening() {
        listeners.forEach(BareRedis::close);
        listeners.clear();
        Objects.requireNonNull(redis.call("PING"));
    }

    void clear() {
        stopListening();
        redis.call("FLUSHALL");
    }

    List<?> run(RedisScript script, String... args) {
        return run(script, List.of(KEYS.all()), args);
    }

    List<?> run(RedisScript script, List<String> keys, String... args) {
        List<String> command = new ArrayList<>(List.of("EVAL", script.script().text(), String.valueOf(keys.size())));
        command.addAll(keys);
        command.addAll(List.of(args));
        Object answer = Objects.requireNonNull(redis.call(command.toArray(String[]::new)));
        return answer instanceof List<?> row ? row : List.of(answer);
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
                String.valueOf(STANDS_MILLIS));
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

    String value() {
        return String.valueOf(redis.call("GET", KEYS.grant()));
    }

    long micros() {
        List<?> time = (List<?>) Objects.requireNonNull(redis.call("TIME"));
        return Long.parseLong((String) Objects.requireNonNull(time.get(0))) * 1_000_000
                + Long.parseLong((String) Objects.requireNonNull(time.get(1)));
    }

    List<String> keys() {
        return RedisTests.keys(redis, "*");
    }

    /** What scripts published while the work ran: channel and message. */
    List<String> published(Runnable work) {
        List<String> published = new ArrayList<>();
        for (String line : redis.monitor(work)) {
            Matcher matcher = PUBLISHED.matcher(line);
            if (matcher.matches()) {
                published.add(matcher.group(1) + " " + matcher.group(2));
            }
        }
        return published;
    }

    @Override
    public void close() {
        listeners.forEach(BareRedis::close);
        redis.close();
        server.close();
    }
}

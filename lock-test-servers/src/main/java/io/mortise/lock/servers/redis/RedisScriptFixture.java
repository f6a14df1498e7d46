// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Environment for tests of Lua scripts: a Redis server and raw commands. For one thread. */
public class RedisScriptFixture implements AutoCloseable {
    private static final Pattern PUBLISHED = Pattern.compile(".* lua] \"(?i:publish)\" \"([^\"]+)\" \"([^\"]+)\"");

    private final RedisTestServer server = RedisTestServer.start();
    private final RawRedis redis = server.connect();
    private final List<RawRedis> listeners = new ArrayList<>();

    /** Starts the server. */
    protected RedisScriptFixture() {}

    /** An attempt id: 32 hexadecimal digits that end in this number. */
    public static String attempt(int number) {
        return String.format(Locale.ROOT, "%032x", number);
    }

    /** The owner record of that attempt. */
    public static String record(int number) {
        return attempt(number) + " m1 mode=x host=h pid=1 since=2026-01-01T00:00:00Z";
    }

    /** Bare commands. */
    public final RawRedis redis() {
        return redis;
    }

    /** The server. */
    public final RedisTestServer server() {
        return server;
    }

    /** The channel of a process that listens from now on. */
    public final String listen(String channel) {
        RawRedis listener = server.connect();
        listener.call("SUBSCRIBE", channel);
        listeners.add(listener);
        return channel;
    }

    /** No process listens any more. */
    public final void stopListening() {
        listeners.forEach(RawRedis::close);
        listeners.clear();
        Objects.requireNonNull(redis.call("PING"));
    }

    /** Nobody listens, and there is no data. */
    public final void clear() {
        stopListening();
        redis.call("FLUSHALL");
    }

    /** Runs a script; an answer that is no list is the only element of one. */
    public final List<?> eval(String script, List<String> keys, String... args) {
        List<String> command = new ArrayList<>(List.of("EVAL", script, String.valueOf(keys.size())));
        command.addAll(keys);
        command.addAll(List.of(args));
        Object answer = Objects.requireNonNull(redis.call(command.toArray(String[]::new)));
        return answer instanceof List<?> row ? row : List.of(answer);
    }

    /** The server's clock, in microseconds. */
    public final long micros() {
        List<?> time = (List<?>) Objects.requireNonNull(redis.call("TIME"));
        return Long.parseLong((String) Objects.requireNonNull(time.get(0))) * 1_000_000
                + Long.parseLong((String) Objects.requireNonNull(time.get(1)));
    }

    /** All keys, sorted. */
    public final List<String> keys() {
        return redis.keys("*");
    }

    /** What scripts published while the work ran: channel, space, message. */
    public final List<String> published(Runnable work) {
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
        listeners.forEach(RawRedis::close);
        redis.close();
        server.close();
    }
}

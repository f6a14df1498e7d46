// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Test fixture for Lua scripts, with a Redis server and a raw connection to it. Not thread-safe. */
public class RedisScriptFixture implements AutoCloseable {
    private static final Pattern PUBLISHED = Pattern.compile(".* lua] \"(?i:publish)\" \"([^\"]+)\" \"([^\"]+)\"");

    private final RedisTestServer server = RedisTestServer.start();
    private final RawRedis redis = server.connect();
    private final List<RawRedis> listeners = new ArrayList<>();

    /** Starts the server. */
    protected RedisScriptFixture() {}

    /** Returns an attempt id: 32 hexadecimal digits that end in this number. */
    public static String attempt(int number) {
        return String.format(Locale.ROOT, "%032x", number);
    }

    /** Returns the owner record of the attempt with that number. */
    public static String record(int number) {
        return attempt(number) + " m1 mode=x host=h pid=1 since=2026-01-01T00:00:00Z";
    }

    /** Returns the raw connection to the server. */
    public final RawRedis redis() {
        return redis;
    }

    /** Returns the server. */
    public final RedisTestServer server() {
        return server;
    }

    /** Subscribes a new connection to a channel, and returns the channel. */
    public final String listen(String channel) {
        RawRedis listener = server.connect();
        listener.call("SUBSCRIBE", channel);
        listeners.add(listener);
        return channel;
    }

    /** Closes all subscribed connections. */
    public final void stopListening() {
        listeners.forEach(RawRedis::close);
        listeners.clear();
        Objects.requireNonNull(redis.call("PING"));
    }

    /** Closes all subscribed connections and deletes all data. */
    public final void clear() {
        stopListening();
        redis.call("FLUSHALL");
    }

    /** Runs a script and returns its reply; a reply that is not a list becomes the only element of a list. */
    public final List<?> eval(String script, List<String> keys, String... args) {
        List<String> command = new ArrayList<>(List.of("EVAL", script, String.valueOf(keys.size())));
        command.addAll(keys);
        command.addAll(List.of(args));
        Object reply = Objects.requireNonNull(redis.call(command.toArray(String[]::new)));
        return reply instanceof List<?> elements ? elements : List.of(reply);
    }

    /** Returns the time of the server's clock, in microseconds since the epoch. */
    public final long micros() {
        List<?> time = (List<?>) Objects.requireNonNull(redis.call("TIME"));
        return Long.parseLong((String) Objects.requireNonNull(time.get(0))) * 1_000_000
                + Long.parseLong((String) Objects.requireNonNull(time.get(1)));
    }

    /** Returns all keys, sorted. */
    public final List<String> keys() {
        return redis.keys("*");
    }

    /** Returns what scripts published while the work ran; each element is the channel, a space and the message. */
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

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.explorer.redis;

import io.mortise.lock.explorer.redis.StoredValue.Hash;
import io.mortise.lock.explorer.redis.StoredValue.SortedSet;
import io.mortise.lock.explorer.redis.StoredValue.Text;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Runs the same steps on a real server and on its model, and compares each reply, each message and the keys afterwards.
 *
 * <p>The scripts read the clock of the comparison on both sides. The server's own clock drives its expiry, so all times to live
 * must be multiples of {@link #TTL_UNIT}, and a sequence must last less than that on either clock. Not thread-safe.
 */
public final class ServerComparison implements AutoCloseable {
    /** All times to live are multiples of this, in ms, and count as if no time had passed. */
    public static final long TTL_UNIT = 100_000;

    private static final long START = 1_700_000_000_000_000L;
    /** The end of an error that a script raised: its digest and line. */
    private static final Pattern WHERE = Pattern.compile(" script: [0-9a-f]{40}, on @user_script:\\d+\\.$");

    /** Gives a script the clock of the comparison, which is its last argument, and adds what it published to its reply. */
    private static final String SHADOW = """
            local server, now, published = redis, table.remove(ARGV), {}
            local function shadowed(run)
              return function(name, ...)
                if name == 'TIME' then
                  return { string.sub(now, 1, -7), string.sub(now, -6) }
                end
                if name == 'PUBLISH' or name == 'SPUBLISH' then
                  published[#published + 1] = (name == 'SPUBLISH' and '{s}' or '') .. table.concat({ ... }, ' ')
                end
                local reply = run(name, ...)
                if name == 'PTTL' and reply > 0 then
                  reply = math.ceil(reply / %1$d) * %1$d
                end
                return reply
              end
            end
            local redis = { call = shadowed(server.call), pcall = shadowed(server.pcall), sha1hex = server.sha1hex }
            local function script()
            %%s
            end
            local reply = script()
            return { published, reply }
            """.formatted(TTL_UNIT);

    /** A connection to the real server. */
    public interface Server {
        /**
         * Sends one command and returns its reply: null, a {@code Long}, a {@code String}, or a list. An error is thrown; in a list
         * it is the exception.
         */
        @Nullable
        Object call(String... command);
    }

    private final Server server;
    private final ScriptInterpreter interpreter = new ScriptInterpreter();
    private final List<String> history = new ArrayList<>();
    private final Set<String> subscribed;
    private RedisModel model;
    private long nowMicros = START;

    /**
     * @param server an otherwise unused server, which is emptied
     * @param subscribed the channels that have a subscriber at the server, those of a shard with the prefix {@code {s}}
     */
    public ServerComparison(Server server, Set<String> subscribed) {
        this.server = server;
        this.subscribed = subscribed;
        this.model = RedisModel.EMPTY.withSubscribed(subscribed);
    }

    /** Empties both. */
    public void restart() {
        server.call("FLUSHALL");
        history.clear();
        nowMicros = START;
        model = RedisModel.EMPTY.withSubscribed(subscribed);
    }

    /** Returns the time that has passed on the comparison's clock since the last restart, in µs. */
    public long elapsed() {
        return nowMicros - START;
    }

    /** Returns the time of the comparison's clock in µs. */
    public long micros() {
        return nowMicros;
    }

    /** Advances the clock of the comparison. */
    public void advance(long micros) {
        nowMicros += micros;
        history.add("advance " + micros);
    }

    /** Runs a script on both, and returns its reply. */
    public @Nullable Object script(String name, String text, List<String> keys, List<String> args) {
        history.add(name + " " + keys + " " + args);
        List<String> command = new ArrayList<>(List.of("EVAL", SHADOW.formatted(text), String.valueOf(keys.size())));
        command.addAll(keys);
        command.addAll(args);
        command.add(String.valueOf(nowMicros));
        Object real = reply(command);
        RedisModel.Result modelled = interpreter.run(model, nowMicros, text, keys, args);
        model = modelled.next();
        if (real instanceof List<?> parts) {
            expect("the reply", parts.size() > 1 ? returned(parts.get(1)) : null, rounded(modelled.reply()));
            expect(
                    "the messages",
                    parts.get(0),
                    modelled.published().stream()
                            .map(message -> message.channel() + " " + message.text())
                            .toList());
        } else {
            expect("the reply", real, modelled.reply());
        }
        return modelled.reply();
    }

    /** Runs one command on both, and returns its reply. */
    public @Nullable Object command(String... command) {
        history.add(String.join(" ", command));
        Object real = reply(List.of(command));
        RedisModel.Result modelled = model.run(nowMicros, command);
        model = modelled.next();
        expect("the reply", real, modelled.reply());
        return modelled.reply();
    }

    /** Compares all keys with their values and times to live. */
    public void compareKeys() {
        Map<String, Object> real = new TreeMap<>();
        for (Object key : (List<?>) Objects.requireNonNull(server.call("KEYS", "*"))) {
            real.put((String) key, describe((String) key));
        }
        Map<String, Object> modelled = new TreeMap<>();
        model.keys().forEach((key, value) -> modelled.put(key, describe(value)));
        expect("the keys", real, modelled);
    }

    @Override
    public void close() {
        interpreter.close();
    }

    private @Nullable Object reply(List<String> command) {
        try {
            return server.call(command.toArray(String[]::new));
        } catch (RuntimeException e) {
            return error(e);
        }
    }

    /** Returns what a script returned; an error within a reply is not thrown. */
    private static Object returned(Object reply) {
        return reply instanceof RuntimeException error ? error(error) : reply;
    }

    private static RedisError error(RuntimeException thrown) {
        return new RedisError(WHERE.matcher(String.valueOf(thrown.getMessage())).replaceFirst(""));
    }

    private List<Object> describe(String key) {
        Object contents = switch (String.valueOf(server.call("TYPE", key))) {
            case "string" -> String.valueOf(server.call("GET", key));
            case "hash" -> pairs(server.call("HGETALL", key));
            default -> pairs(server.call("ZRANGE", key, "0", "-1", "WITHSCORES"));
        };
        return List.of(contents, roundedUp((Long) Objects.requireNonNull(server.call("PTTL", key))));
    }

    private static Map<String, String> pairs(@Nullable Object reply) {
        Map<String, String> pairs = new TreeMap<>();
        List<?> values = (List<?>) Objects.requireNonNull(reply);
        for (int i = 0; i < values.size(); i += 2) {
            pairs.put((String) values.get(i), (String) values.get(i + 1));
        }
        return pairs;
    }

    private List<Object> describe(StoredValue value) {
        long ttl = value.expiresAt().isPresent() ? value.expiresAt().getAsLong() - nowMicros / 1000 : -1;
        Object contents;
        if (value instanceof Text text) {
            contents = text.text();
        } else if (value instanceof Hash hash) {
            contents = hash.fields();
        } else {
            Map<String, String> scores = new TreeMap<>();
            ((SortedSet) value).scores().forEach((member, score) -> scores.put(member, RedisCommands.number(score)));
            contents = scores;
        }
        return List.of(contents, roundedUp(ttl));
    }

    /** Rounds the time to live in a reply {@code 'busy', ms, …}, which the shadowed script rounds at the server. */
    private static @Nullable Object rounded(@Nullable Object reply) {
        if (reply instanceof List<?> values
                && values.size() > 2
                && values.get(0).equals("busy")) {
            List<Object> changed = new ArrayList<>(values);
            long remaining = (Long) values.get(1);
            changed.set(1, remaining > TTL_UNIT / 100 ? roundedUp(remaining) : (Object) remaining);
            return changed;
        }
        return reply;
    }

    private static long roundedUp(long millis) {
        return millis < 0 ? millis : (millis + TTL_UNIT - 1) / TTL_UNIT * TTL_UNIT;
    }

    private void expect(String what, @Nullable Object real, @Nullable Object modelled) {
        if (!String.valueOf(real).equals(String.valueOf(modelled))) {
            throw new AssertionError(
                    what + " of the server: " + real + System.lineSeparator() + what + " of the model: "
                            + modelled + System.lineSeparator() + "after" + System.lineSeparator()
                            + String.join(System.lineSeparator(), history));
        }
    }
}

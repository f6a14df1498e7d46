// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.explorer.redis;

import io.mortise.lock.explorer.redis.StoredValue.Hash;
import io.mortise.lock.explorer.redis.StoredValue.SortedSet;
import io.mortise.lock.explorer.redis.StoredValue.Text;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The commands of a Redis server that the scripts use, executed one after the other at one moment of the server's clock. */
final class RedisCommands {
    private static final RedisError WRONG_TYPE =
            new RedisError("WRONGTYPE Operation against a key holding the wrong kind of value");

    private static final String INFINITE = "inf";

    private final RedisModel before;
    private final Map<String, StoredValue> keys;
    private final long nowMicros;
    private final List<RedisModel.Message> published = new ArrayList<>();

    /** Thrown by a command on a value of another kind. */
    private static final class WrongTypeException extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    RedisCommands(RedisModel before, long nowMicros) {
        this.before = before;
        this.keys = new HashMap<>(before.keys());
        this.nowMicros = nowMicros;
        keys.values()
                .removeIf(value ->
                        value.expiresAt().isPresent() && value.expiresAt().getAsLong() <= nowMillis());
    }

    private long nowMillis() {
        return nowMicros / 1000;
    }

    RedisModel.Result result(@Nullable Object reply) {
        return new RedisModel.Result(reply, List.copyOf(published), new RedisModel(keys, before.subscribed()));
    }

    /** Returns null, a {@link Long}, a {@link String}, a {@link RedisError} or a list of these. */
    @Nullable
    Object run(List<String> command) {
        try {
            return runTyped(command.get(0).toUpperCase(Locale.ROOT), command.subList(1, command.size()));
        } catch (WrongTypeException e) {
            return WRONG_TYPE;
        }
    }

    @SuppressWarnings("StatementSwitchToExpressionSwitch") // several cases have statements of their own
    private @Nullable Object runTyped(String name, List<String> args) {
        switch (name) {
            case "TIME":
                return List.of(String.valueOf(nowMicros / 1_000_000), String.valueOf(nowMicros % 1_000_000));
            case "GET":
                return text(args.get(0));
            case "GETSET":
                String old = text(args.get(0));
                keys.put(args.get(0), new Text(args.get(1), OptionalLong.empty()));
                return old;
            case "GETRANGE":
                return range(text(args.get(0)), Integer.parseInt(args.get(1)), Integer.parseInt(args.get(2)));
            case "SET":
                return set(args.get(0), args.get(1), args.subList(2, args.size()));
            case "DEL":
                return args.stream().filter(key -> keys.remove(key) != null).count();
            case "EXISTS":
                return args.stream().filter(keys::containsKey).count();
            case "PEXPIRE":
                return expire(args.get(0), Long.parseLong(args.get(1)));
            case "PTTL":
                StoredValue value = keys.get(args.get(0));
                return value == null
                        ? -2L
                        : value.expiresAt().isEmpty() ? -1L : value.expiresAt().getAsLong() - nowMillis();
            case "HGET":
                return hash(args.get(0)).fields().get(args.get(1));
            case "HMGET":
                Map<String, String> all = hash(args.get(0)).fields();
                return new ArrayList<>(
                        args.subList(1, args.size()).stream().map(all::get).toList());
            case "HSET":
                return change(
                        hash(args.get(0)),
                        Hash::copy,
                        fields -> {
                            long added = 0;
                            for (int i = 1; i < args.size(); i += 2) {
                                added += fields.put(args.get(i), args.get(i + 1)) == null ? 1 : 0;
                            }
                            return added;
                        },
                        (fields, expiry) -> store(args.get(0), fields, new Hash(fields, expiry)));
            case "HDEL":
                return change(
                        hash(args.get(0)),
                        Hash::copy,
                        fields -> removed(fields, args),
                        (fields, expiry) -> store(args.get(0), fields, new Hash(fields, expiry)));
            case "ZADD":
                return zadd(args);
            case "ZREM":
                return change(
                        sortedSet(args.get(0)),
                        SortedSet::copy,
                        scores -> removed(scores, args),
                        (scores, expiry) -> store(args.get(0), scores, new SortedSet(scores, expiry)));
            case "ZSCORE":
                Double score = sortedSet(args.get(0)).scores().get(args.get(1));
                return score == null ? null : number(score);
            case "ZRANK":
                int rank = ordered(args.get(0)).indexOf(args.get(1));
                return rank < 0 ? null : (Long) (long) rank;
            case "ZRANGE":
                return zrange(args);
            case "PUBSUB":
                if (args.get(0).equals("CHANNELS")) {
                    return channels(args.get(1));
                }
                return List.of(
                        args.get(1),
                        before.subscribed().contains((args.get(0).equals("SHARDNUMSUB") ? "{s}" : "") + args.get(1))
                                ? 1L
                                : 0L);
            case "PUBLISH":
            case "SPUBLISH":
                String channel = (name.equals("SPUBLISH") ? "{s}" : "") + args.get(0);
                published.add(new RedisModel.Message(channel, args.get(1)));
                return before.subscribed().contains(channel) ? 1L : 0L;
            default:
                throw new IllegalArgumentException("not in the model: " + name);
        }
    }

    /** Returns the subscribed channels that match a pattern, which must be a prefix. */
    private List<String> channels(String pattern) {
        String prefix = pattern.replaceAll("\\*$", "").replaceAll("\\\\(.)", "$1");
        return before.subscribed().stream()
                .filter(channel -> !channel.startsWith("{s}") && channel.startsWith(prefix))
                .toList();
    }

    private @Nullable String text(String key) {
        StoredValue value = keys.get(key);
        if (value == null) {
            return null;
        }
        if (value instanceof Text text) {
            return text.text();
        }
        throw new WrongTypeException();
    }

    private Hash hash(String key) {
        StoredValue value = keys.getOrDefault(key, new Hash(Map.of(), OptionalLong.empty()));
        if (value instanceof Hash hash) {
            return hash;
        }
        throw new WrongTypeException();
    }

    private SortedSet sortedSet(String key) {
        StoredValue value = keys.getOrDefault(key, new SortedSet(Map.of(), OptionalLong.empty()));
        if (value instanceof SortedSet set) {
            return set;
        }
        throw new WrongTypeException();
    }

    private static String range(@Nullable String text, int from, int to) {
        return text == null || from >= text.length() ? "" : text.substring(from, Math.min(text.length(), to + 1));
    }

    private @Nullable Object set(String key, String text, List<String> options) {
        OptionalLong expiry = OptionalLong.empty();
        for (int i = 0; i < options.size(); i++) {
            switch (options.get(i)) {
                case "NX" -> {
                    if (keys.containsKey(key)) {
                        return null;
                    }
                }
                case "PX" -> expiry = OptionalLong.of(nowMillis() + Long.parseLong(options.get(++i)));
                default -> throw new IllegalArgumentException("not in the model: SET … " + options);
            }
        }
        keys.put(key, new Text(text, expiry));
        return "OK";
    }

    private Long expire(String key, long millis) {
        StoredValue value = keys.get(key);
        if (value == null) {
            return 0L;
        }
        if (millis <= 0) {
            keys.remove(key);
        } else {
            keys.put(key, value.expiringAt(OptionalLong.of(nowMillis() + millis)));
        }
        return 1L;
    }

    /** Stores a changed collection with the expiry that it had. */
    private interface Store<C> {
        void store(C contents, OptionalLong expiry);
    }

    private static <V extends StoredValue, C> Long change(
            V value, Function<V, C> copy, Function<C, Long> change, Store<C> store) {
        C contents = copy.apply(value);
        Long reply = change.apply(contents);
        store.store(contents, value.expiresAt());
        return reply;
    }

    /** An empty collection is no key. */
    private void store(String key, Map<String, ?> contents, StoredValue value) {
        if (contents.isEmpty()) {
            keys.remove(key);
        } else {
            keys.put(key, value);
        }
    }

    private static Long removed(Map<String, ?> contents, List<String> args) {
        return args.subList(1, args.size()).stream()
                .filter(member -> contents.remove(member) != null)
                .count();
    }

    private Long zadd(List<String> args) {
        boolean onlyNew = args.get(1).equals("NX");
        String text = args.get(onlyNew ? 2 : 1);
        double score = text.equals(INFINITE) ? Double.POSITIVE_INFINITY : Double.parseDouble(text);
        String member = args.get(onlyNew ? 3 : 2);
        return change(
                sortedSet(args.get(0)),
                SortedSet::copy,
                scores -> {
                    boolean added = !scores.containsKey(member);
                    if (added || !onlyNew) {
                        scores.put(member, score);
                    }
                    return added ? 1L : 0L;
                },
                (scores, expiry) -> store(args.get(0), scores, new SortedSet(scores, expiry)));
    }

    private List<String> ordered(String key) {
        Map<String, Double> scores = new TreeMap<>(sortedSet(key).scores());
        return scores.keySet().stream()
                .sorted(Comparator.comparing(scores::get))
                .toList();
    }

    private List<String> zrange(List<String> args) {
        List<String> all = ordered(args.get(0));
        int from = index(args.get(1), all.size());
        int to = Math.min(index(args.get(2), all.size()), all.size() - 1);
        List<String> members = from > to ? List.of() : all.subList(Math.max(from, 0), to + 1);
        if (args.size() < 4) {
            return members;
        }
        Map<String, Double> scores = sortedSet(args.get(0)).scores();
        return members.stream()
                .flatMap(member -> List.of(member, number(Objects.requireNonNull(scores.get(member)))).stream())
                .toList();
    }

    private static int index(String text, int size) {
        int index = Integer.parseInt(text);
        return index < 0 ? size + index : index;
    }

    /** Returns a number as a server writes it; the model only has whole ones, and the infinite one. */
    static String number(double value) {
        if (value == Double.POSITIVE_INFINITY) {
            return INFINITE;
        }
        if (value != Math.rint(value)) {
            throw new IllegalArgumentException("not in the model: " + value);
        }
        return String.valueOf((long) value);
    }
}

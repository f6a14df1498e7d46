// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.explorer.redis;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The state of a Redis server: its keys, and the channels that have a subscriber. Immutable; a step returns the next state.
 *
 * @param keys the keys and their values
 * @param subscribed the channels, those of a shard with the prefix {@code {s}}
 */
public record RedisModel(Map<String, StoredValue> keys, Set<String> subscribed) {
    /** An empty server without subscribers. */
    public static final RedisModel EMPTY = new RedisModel(Map.of(), Set.of());

    public RedisModel {
        keys = Map.copyOf(keys);
        subscribed = Set.copyOf(subscribed);
    }

    /**
     * The result of a script or a command.
     *
     * @param reply null, a {@link Long}, a {@link String}, a {@link RedisError} or a list of these
     * @param published the messages in their order
     * @param next the state of the server afterwards
     */
    public record Result(@Nullable Object reply, List<Message> published, RedisModel next) {}

    /** A published message. */
    public record Message(String channel, String text) {}

    /** Returns the server with the same keys, none of which expires by itself, except some. */
    public RedisModel withoutExpiry(String... except) {
        List<String> expiring = List.of(except);
        Map<String, StoredValue> lasting = new HashMap<>(keys);
        lasting.replaceAll((key, value) -> expiring.contains(key) ? value : value.expiringAt(OptionalLong.empty()));
        return new RedisModel(lasting, subscribed);
    }

    /** Returns the server with exactly these subscribed channels. */
    public RedisModel withSubscribed(Set<String> channels) {
        return new RedisModel(keys, channels);
    }

    /**
     * Runs one command.
     *
     * @param nowMicros the time of the server's clock
     */
    public Result run(long nowMicros, String... command) {
        RedisCommands commands = new RedisCommands(this, nowMicros);
        Object reply = commands.run(List.of(command));
        return commands.result(reply);
    }
}

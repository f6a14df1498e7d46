// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.storage;

import io.mortise.lock.redis.admin.LockListing;
import io.mortise.lock.spi.LockName;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Builds the names of all Redis keys and channels under one prefix.
 *
 * <p>Mortise's own keys begin with a percent sign and a letter that no escaped lock name can have there, so that they never
 * collide with a lock (S13). They also differ from those of {@code redis://}: on a server that serves both under one prefix,
 * the two share only the grant key, and each treats a grant of the other as that of a foreign holder.
 */
public final class RedlockKeys {
    /**
     * Number of token counters of a master. With a single one, masters that serve locks in different orders would often
     * disagree.
     */
    public static final int BUCKETS = 64;

    private static final List<String> ALL_BUCKETS = IntStream.range(0, BUCKETS)
            .mapToObj(number -> String.format(Locale.ROOT, "%02d", number))
            .toList();

    private static final String STATE = "%redlock";
    private static final String QUEUE = "%redlock-queue:";
    private static final String ENTRIES = "%redlock-waiters:";
    private static final String CHANNEL = "%redlock-client:";

    private final String prefix;

    public RedlockKeys(String prefix) {
        this.prefix = prefix;
    }

    /**
     * Keys that a script may access for one lock.
     *
     * @param bucket field of the lock's token counter in the master's state
     */
    public record LockKeys(String grant, String state, String queue, String entries, String bucket) {
        /** Returns the keys in the order in which scripts expect them. */
        public String[] all() {
            return new String[] {grant, state, queue, entries};
        }
    }

    /** Returns the keys of one lock. */
    public LockKeys of(LockName name) {
        String escaped = name.escaped();
        return new LockKeys(
                prefix + escaped,
                state(),
                prefix + QUEUE + escaped,
                prefix + ENTRIES + escaped,
                ALL_BUCKETS.get(Math.floorMod(
                        escaped.hashCode(), BUCKETS))); // String.hashCode is specified, so it is equal in all clients
    }

    /** Returns the prefix of all keys. */
    public String prefix() {
        return prefix;
    }

    /** Returns the key of the hash that holds a master's quarantine state and its token counters. */
    public String state() {
        return prefix + STATE;
    }

    /** Returns the fields of all token counters. */
    public static List<String> buckets() {
        return ALL_BUCKETS;
    }

    /** Returns the channel that a client subscribes to. */
    public String channel(String clientId) {
        return prefix + CHANNEL + clientId;
    }

    /** Returns the pattern that matches the channels of all clients. */
    public String channels() {
        return LockListing.pattern(channel(""));
    }

    /** Returns the lock that a grant key belongs to; empty for any other key. */
    public Optional<LockName> lockName(String key) {
        return key.startsWith(prefix) ? LockName.ofEscaped(key.substring(prefix.length())) : Optional.empty();
    }
}

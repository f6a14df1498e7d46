// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.mortise.lock.spi.LockName;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Where things are in each master. Mortise's own keys begin with a percent sign and a letter that no escaped name can have in
 * that place, so that no lock ever meets them (S13), and they are none of those of {@code redis://}: on a server that serves both
 * under one prefix, they have nothing in common but the key of a grant, which either takes for a foreign holder's.
 */
final class RedlockKeys {
    /** How many counters a master has: with one for all locks, masters that serve them in another order would disagree. */
    static final int BUCKETS = 64;

    private static final List<String> ALL_BUCKETS = IntStream.range(0, BUCKETS)
            .mapToObj(number -> String.format(Locale.ROOT, "%02d", number))
            .toList();

    private static final String STATE = "%redlock";
    private static final String QUEUE = "%redlock-queue:";
    private static final String ENTRIES = "%redlock-waiters:";
    private static final String CHANNEL = "%redlock-client:";

    private final String prefix;

    RedlockKeys(String prefix) {
        this.prefix = prefix;
    }

    /**
     * All that a script may touch for one lock.
     *
     * @param bucket of its counter in the master's state
     */
    record OfLock(String grant, String state, String queue, String entries, String bucket) {
        String[] all() {
            return new String[] {grant, state, queue, entries};
        }
    }

    OfLock of(LockName name) {
        String escaped = name.escaped();
        return new OfLock(
                prefix + escaped,
                state(),
                prefix + QUEUE + escaped,
                prefix + ENTRIES + escaped,
                ALL_BUCKETS.get(
                        Math.floorMod(escaped.hashCode(), BUCKETS))); // the language says what it is, for all clients
    }

    String prefix() {
        return prefix;
    }

    /** A hash of what a master knows of itself and its counters. */
    String state() {
        return prefix + STATE;
    }

    static List<String> buckets() {
        return ALL_BUCKETS;
    }

    /** What a client listens to. */
    String channel(String clientId) {
        return prefix + CHANNEL + clientId;
    }

    /** The lock whose grant a key is; empty for any other key. */
    Optional<LockName> lockName(String key) {
        if (!key.startsWith(prefix)) {
            return Optional.empty();
        }
        String escaped = key.substring(prefix.length());
        try {
            LockName name = new LockName(LockName.unescape(escaped));
            return name.escaped().equals(escaped) ? Optional.of(name) : Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.empty(); // one of our own, or somebody else's
        }
    }
}

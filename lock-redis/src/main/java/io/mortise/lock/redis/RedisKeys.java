// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.spi.LockName;
import java.util.Optional;

/**
 * Where things are in the store. Mortise's own keys begin with a percent sign and a letter that no escaped name can have in
 * that place, so that no lock ever meets them (S13).
 */
final class RedisKeys {
    private static final String QUEUE = "%queue:";
    private static final String ENTRIES = "%waiters:";
    private static final String COUNTER = "%token";
    private static final String CHANNEL = "%mortise-client:";

    private final String prefix;

    RedisKeys(String prefix) {
        this.prefix = prefix;
    }

    /** All that a script may touch for one lock, in the order in which the scripts expect them. */
    record OfLock(String grant, String counter, String queue, String entries) {
        String[] all() {
            return new String[] {grant, counter, queue, entries};
        }
    }

    OfLock of(LockName name) {
        String escaped = name.escaped();
        return new OfLock(prefix + escaped, counter(), prefix + QUEUE + escaped, prefix + ENTRIES + escaped);
    }

    /** The one counter of all tokens: nothing is kept for a name that is not in use (S17). */
    private String counter() {
        return prefix + COUNTER;
    }

    /** What a client listens to. */
    String channel(String clientId) {
        return prefix + CHANNEL + clientId;
    }

    /** For SCAN: all keys with the prefix. */
    String pattern() {
        return prefix.replaceAll("([\\\\*?\\[\\]^-])", "\\\\$1") + "*";
    }

    /** The lock whose grant a key is; empty for any other key. */
    Optional<String> lockName(String key) {
        if (!key.startsWith(prefix)) {
            return Optional.empty();
        }
        String escaped = key.substring(prefix.length());
        try {
            LockName name = new LockName(LockName.unescape(escaped));
            return name.escaped().equals(escaped) ? Optional.of(name.value()) : Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.empty(); // one of our own, or somebody else's
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.codec.CRC16;
import io.mortise.lock.redis.admin.LockListing;
import io.mortise.lock.spi.LockName;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Names of the keys and channels of a lock. Mortise's own keys begin with a percent sign and a letter that no escaped name can
 * have in that place, so that no lock ever meets them (S13). In a cluster all that belongs to one lock is in the slot of its
 * bucket's hash tag.
 */
final class RedisKeyLayout {
    /** Before a channel in a waiter's entry: it is published on by SPUBLISH. No prefix of keys has a brace. */
    static final String SHARDED = "{s}";

    /** How many counters there are for good in a cluster, and how many of its nodes can have locks at most. */
    static final int BUCKETS = 64;

    private static final String QUEUE = "%queue:";
    private static final String ENTRIES = "%waiters:";
    private static final String COUNTER = "%token";
    private static final String CHANNEL = "%mortise-client:";
    private static final Pattern TAGGED = Pattern.compile("(\\{b\\d\\d})(.*)", Pattern.DOTALL);

    private final String prefix;
    private final boolean clustered;
    private final int[] slots = new int[BUCKETS];

    private RedisKeyLayout(String prefix, boolean clustered) {
        this.prefix = prefix;
        this.clustered = clustered;
        // One server has no slots, and would be connected to later by the time that all of these take.
        for (int bucket = 0; clustered && bucket < BUCKETS; bucket++) {
            slots[bucket] = SlotHash.getSlot(tag(bucket));
        }
    }

    /** For one server. */
    RedisKeyLayout(String prefix) {
        this(prefix, false);
    }

    /** For a cluster. */
    static RedisKeyLayout clustered(String prefix) {
        return new RedisKeyLayout(prefix, true);
    }

    /**
     * All that a script may touch for one lock, in the order in which the scripts expect them.
     *
     * @param slot in a cluster, where all of them are
     */
    record OfLock(String grant, String counter, String queue, String entries, int slot) {
        String[] all() {
            return new String[] {grant, counter, queue, entries};
        }
    }

    OfLock of(LockName name) {
        String escaped = name.escaped();
        int bucket = clustered ? bucket(escaped) : 0;
        String start = clustered ? prefix + tag(bucket) : prefix;
        return new OfLock(
                start + escaped, start + COUNTER, start + QUEUE + escaped, start + ENTRIES + escaped, slots[bucket]);
    }

    /** What {@code CLUSTER KEYSLOT} says of the escaped name, which has no braces, modulo 64. */
    private static int bucket(String escaped) {
        return CRC16.crc16(escaped.getBytes(StandardCharsets.US_ASCII)) % BUCKETS;
    }

    private static String tag(int bucket) {
        return String.format(Locale.ROOT, "{b%02d}", bucket);
    }

    /** What a client listens to. */
    String channel(String clientId) {
        return prefix + CHANNEL + clientId;
    }

    /** What a client listens to for the locks of the same bucket: in their slot. */
    String shardChannel(OfLock lock, String clientId) {
        return lock.counter().substring(0, lock.counter().length() - COUNTER.length()) + CHANNEL + clientId;
    }

    /** For SCAN: all keys with the prefix. */
    String pattern() {
        return LockListing.pattern(prefix);
    }

    /** The lock whose grant a key is; empty for any other key. */
    Optional<String> lockName(String key) {
        if (!key.startsWith(prefix)) {
            return Optional.empty();
        }
        String escaped = key.substring(prefix.length());
        if (clustered) {
            Matcher tagged = TAGGED.matcher(escaped);
            if (!tagged.matches() || !tagged.group(1).equals(tag(bucket(tagged.group(2))))) {
                return Optional.empty();
            }
            escaped = tagged.group(2);
        }
        try {
            LockName name = new LockName(LockName.unescape(escaped));
            return name.escaped().equals(escaped) ? Optional.of(name.value()) : Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.empty(); // one of our own, or somebody else's
        }
    }
}

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
 * Builds the names of the Redis keys and channels that belong to a lock. Mortise's own keys begin with a percent sign and a
 * letter that no escaped name can have in that position, so that they never collide with a lock's name (S13). In a cluster, all
 * keys of one lock are in the slot of its bucket's hash tag.
 */
final class RedisKeyLayout {
    /** Precedes a channel in a queue entry that needs SPUBLISH. It is unambiguous, since no prefix of keys has a brace. */
    static final String SHARDED = "{s}";

    /** The number of token counters in a cluster, which must never change, and the largest number of nodes with locks. */
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
        // A single server has no slots, and computing all of these would delay the first connection.
        for (int bucket = 0; clustered && bucket < BUCKETS; bucket++) {
            slots[bucket] = SlotHash.getSlot(tag(bucket));
        }
    }

    /** Creates the layout for one server. */
    RedisKeyLayout(String prefix) {
        this(prefix, false);
    }

    /** Creates the layout for a cluster. */
    static RedisKeyLayout clustered(String prefix) {
        return new RedisKeyLayout(prefix, true);
    }

    /**
     * The keys that a script may access for one lock, in the order in which the scripts expect them.
     *
     * @param slot the hash slot of all these keys; unused outside a cluster
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

    /** Returns the slot that {@code CLUSTER KEYSLOT} returns for the escaped name, which has no braces, modulo 64. */
    private static int bucket(String escaped) {
        return CRC16.crc16(escaped.getBytes(StandardCharsets.US_ASCII)) % BUCKETS;
    }

    private static String tag(int bucket) {
        return String.format(Locale.ROOT, "{b%02d}", bucket);
    }

    /** Returns the channel on which a client receives its messages. */
    String channel(String clientId) {
        return prefix + CHANNEL + clientId;
    }

    /** Returns the channel on which a client receives messages for the locks of this lock's bucket; it is in their slot. */
    String shardChannel(OfLock lock, String clientId) {
        return lock.counter().substring(0, lock.counter().length() - COUNTER.length()) + CHANNEL + clientId;
    }

    /** Returns the pattern for SCAN that matches all keys with the prefix. */
    String pattern() {
        return LockListing.pattern(prefix);
    }

    /** Returns the name of the lock whose grant this key is; empty for any other key. */
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
        return LockName.ofEscaped(escaped).map(LockName::value);
    }
}

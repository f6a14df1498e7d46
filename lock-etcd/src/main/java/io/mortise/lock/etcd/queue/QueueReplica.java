// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.queue;

import io.etcd.jetcd.ByteSequence;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/** A lock's queue as last read from the store, with the changes since. Not thread-safe. */
public final class QueueReplica {
    /**
     * A key under the lock's name.
     *
     * @param since the revision that created it, which is its position in the queue
     */
    public record ContenderKey(ByteSequence key, long since) {}

    private final Map<ByteSequence, ContenderKey> byKey = new HashMap<>();
    private final TreeSet<ContenderKey> keys = new TreeSet<>(Comparator.comparingLong(ContenderKey::since)
            .thenComparing(one -> one.key().toString()));
    private long readRevision;
    private long seen;

    /** What one read found, at that revision. */
    void reset(long revision, Iterable<ContenderKey> found) {
        byKey.clear();
        keys.clear();
        readRevision = revision;
        seen = revision;
        found.forEach(this::add);
    }

    /** A key was written. What the last read has seen already does not count. */
    void put(ByteSequence key, long since, long revision) {
        if (revision > readRevision) {
            seen = Math.max(seen, revision);
            remove(key);
            add(new ContenderKey(key, since));
        }
    }

    void deleted(ByteSequence key, long revision) {
        if (revision > readRevision) {
            seen = Math.max(seen, revision);
            remove(key);
        }
    }

    private void add(ContenderKey one) {
        byKey.put(one.key(), one);
        keys.add(one);
    }

    private void remove(ByteSequence key) {
        ContenderKey known = byKey.remove(key);
        if (known != null) {
            keys.remove(known);
        }
    }

    /** Whoever holds the lock. */
    Optional<ContenderKey> head() {
        return keys.isEmpty() ? Optional.empty() : Optional.of(keys.first());
    }

    /** Whether it was queued once, and does not any more; false while it may be yet to come. */
    boolean misses(ContenderKey one) {
        return one.since() <= seen && !one.equals(byKey.get(one.key()));
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.queue;

import io.etcd.jetcd.ByteSequence;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/** Keeps a local copy of a lock's queue, updated by reads and watch events. Not thread-safe. */
public final class QueueReplica {
    /**
     * A key in the lock's queue.
     *
     * @param key the name of the key
     * @param createRevision the revision that created the key, which is its position in the queue
     */
    public record ContenderKey(ByteSequence key, long createRevision) {}

    private final Map<ByteSequence, ContenderKey> byKey = new HashMap<>();
    private final TreeSet<ContenderKey> keys = new TreeSet<>(Comparator.comparingLong(ContenderKey::createRevision)
            .thenComparing(key -> key.key().toString()));
    private long readRevision;
    private long lastRevision;

    /** Replaces the content by that of a read at the given revision. */
    void reset(long revision, Iterable<ContenderKey> found) {
        byKey.clear();
        keys.clear();
        readRevision = revision;
        lastRevision = revision;
        found.forEach(this::add);
    }

    /** Records that a key was written. Ignored if the last read has already seen the write. */
    void put(ByteSequence key, long createRevision, long revision) {
        if (revision > readRevision) {
            lastRevision = Math.max(lastRevision, revision);
            remove(key);
            add(new ContenderKey(key, createRevision));
        }
    }

    void deleted(ByteSequence key, long revision) {
        if (revision > readRevision) {
            lastRevision = Math.max(lastRevision, revision);
            remove(key);
        }
    }

    private void add(ContenderKey key) {
        byKey.put(key.key(), key);
        keys.add(key);
    }

    private void remove(ByteSequence key) {
        ContenderKey known = byKey.remove(key);
        if (known != null) {
            keys.remove(known);
        }
    }

    /** Returns the first key, which is that of the holder. */
    Optional<ContenderKey> head() {
        return keys.isEmpty() ? Optional.empty() : Optional.of(keys.first());
    }

    /** Returns whether the key was queued and has been deleted; false if its creation may not have been seen yet. */
    boolean isMissing(ContenderKey key) {
        return key.createRevision() <= lastRevision && !key.equals(byKey.get(key.key()));
    }
}

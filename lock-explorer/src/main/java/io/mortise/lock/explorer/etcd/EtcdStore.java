// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.explorer.etcd;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The keys and leases of an etcd cluster after a revision. An immutable value. It has what a lock needs: transactions with nested
 * ones, and leases that end with their keys. All reads are linearizable.
 *
 * @param keys the keys by their names
 * @param leases the leases that exist
 * @param revision the last revision
 */
public record EtcdStore(SortedMap<String, Entry> keys, TreeSet<Long> leases, long revision) {
    /** A key's value; the lease with which it ends, or 0; the revisions of its creation and of its last put; its puts. */
    public record Entry(String value, long lease, long createRevision, long modRevision, long version) {}

    /** A report of a watch on a key. The revision of the creation is 0 if the key was deleted. */
    public record Event(String key, long createRevision, long revision) {
        /** Returns whether the key was deleted. */
        public boolean isDeletion() {
            return createRevision == 0;
        }
    }

    /** A condition of a transaction. A key that does not exist has no value, and zeros otherwise. */
    public sealed interface Compare {}

    /** Compares the revision of the creation; 0 if the key must not exist. */
    public record CreatedAt(String key, long revision) implements Compare {}

    /** Requires that the key exists. */
    public record Exists(String key) implements Compare {}

    /** Compares the value. */
    public record HasValue(String key, String value) implements Compare {}

    /** Compares the version, the number of puts since the creation. */
    public record HasVersion(String key, long version) implements Compare {}

    /** A part of a transaction. */
    public sealed interface Op {}

    /** Puts a key. */
    public record Put(String key, String value, long lease) implements Op {}

    /**
     * Deletes a key, if it exists.
     *
     * @param reads whether the result shows what was deleted
     */
    public record Delete(String key, boolean reads) implements Op {}

    /** Reads a key. */
    public record Get(String key) implements Op {}

    /** Counts the keys with the prefix, and reads the one that was created first. */
    public record First(String prefix) implements Op {}

    /** Counts the keys with the prefix, and reads the lowest of those that were created before a revision. */
    public record AnyBefore(String prefix, long revision) implements Op {}

    /** A transaction, also within another. */
    public record Txn(List<? extends Compare> compares, List<? extends Op> then, List<? extends Op> otherwise)
            implements Op {}

    /**
     * The result of a part of a transaction.
     *
     * @param key the name of the key that was read; null if there is none
     * @param entry the key that was read
     * @param count the number of keys that were deleted, or that have the prefix
     * @param succeeded whether the conditions of a transaction were true
     * @param parts what the parts of a transaction have found
     */
    public record Result(
            @Nullable String key, @Nullable Entry entry, long count, boolean succeeded, List<Result> parts) {
        private static Result of(@Nullable String key, @Nullable Entry entry, long count) {
            return new Result(entry == null ? null : key, entry, count, false, List.of());
        }
    }

    /**
     * The result of a request.
     *
     * @param result empty if the request was refused, since a lease does not exist
     */
    public record Outcome(EtcdStore next, List<Event> events, Optional<Result> result) {}

    /** Returns an empty store. */
    public static EtcdStore empty(long revision) {
        return new EtcdStore(Collections.emptySortedMap(), new TreeSet<>(), revision);
    }

    /** Returns the names of the keys with the prefix, the oldest first. */
    public List<String> queue(String prefix) {
        return queue(keys, prefix);
    }

    private static List<String> queue(SortedMap<String, Entry> keys, String prefix) {
        List<String> queue = new ArrayList<>(4);
        keys.tailMap(prefix).forEach((key, entry) -> {
            if (key.startsWith(prefix)) {
                int at = queue.size();
                while (at > 0 && created(keys, queue.get(at - 1)) > entry.createRevision) {
                    at--;
                }
                queue.add(at, key);
            }
        });
        return queue;
    }

    /** Returns the revision that created the key; 0 if it does not exist. */
    public long createRevision(String key) {
        return created(keys, key);
    }

    private static long created(SortedMap<String, Entry> keys, String key) {
        Entry entry = keys.get(key);
        return entry == null ? 0 : entry.createRevision;
    }

    /** Executes a transaction: all of it in one revision, or nothing. */
    public Outcome apply(Txn txn) {
        Change change = new Change(this);
        Result result = change.apply(txn);
        return change.leaseMissing
                ? new Outcome(this, List.of(), Optional.empty())
                : new Outcome(change.store(), change.events, Optional.of(result));
    }

    /** Grants a lease. */
    public EtcdStore withLease(long lease) {
        TreeSet<Long> more = new TreeSet<>(leases);
        more.add(lease);
        return new EtcdStore(keys, more, revision);
    }

    /** Revokes a lease, and deletes its keys in one revision. */
    public Outcome revoke(long lease) {
        TreeSet<Long> fewer = new TreeSet<>(leases);
        fewer.remove(lease);
        Change change = new Change(new EtcdStore(keys, fewer, revision));
        keys.forEach((key, entry) -> {
            if (entry.lease == lease) {
                change.apply(new Delete(key, false));
            }
        });
        return new Outcome(change.store(), change.events, Optional.of(Result.of(null, null, change.events.size())));
    }

    /** The execution of one request. */
    private static final class Change {
        private final EtcdStore before;
        private final SortedMap<String, Entry> keys;
        private final List<Event> events = new ArrayList<>();
        private boolean leaseMissing;

        Change(EtcdStore before) {
            this.before = before;
            this.keys = new TreeMap<>(before.keys);
        }

        EtcdStore store() {
            return new EtcdStore(keys, before.leases, before.revision + (events.isEmpty() ? 0 : 1));
        }

        Result apply(Op op) {
            if (op instanceof Put put) {
                return put(put);
            }
            if (op instanceof Delete delete) {
                Entry deleted = keys.remove(delete.key);
                if (deleted != null) {
                    events.add(new Event(delete.key, 0, before.revision + 1));
                }
                return Result.of(null, delete.reads ? deleted : null, deleted == null ? 0 : 1);
            }
            if (op instanceof Get get) {
                return Result.of(get.key, keys.get(get.key), keys.containsKey(get.key) ? 1 : 0);
            }
            if (op instanceof First first) {
                List<String> queue = queue(keys, first.prefix);
                String key = queue.isEmpty() ? null : queue.get(0);
                return Result.of(key, key == null ? null : keys.get(key), queue.size());
            }
            if (op instanceof AnyBefore any) {
                return anyBefore(any);
            }
            Txn txn = (Txn) op;
            boolean succeeded = txn.compares.stream().allMatch(this::isTrue);
            List<Result> parts = new ArrayList<>();
            (succeeded ? txn.then : txn.otherwise).forEach(part -> parts.add(apply(part)));
            return new Result(null, null, 0, succeeded, parts);
        }

        private Result put(Put put) {
            leaseMissing |= put.lease != 0 && !before.leases.contains(put.lease);
            Entry old = keys.get(put.key);
            long revision = before.revision + 1;
            long created = old == null ? revision : old.createRevision;
            keys.put(put.key, new Entry(put.value, put.lease, created, revision, old == null ? 1 : old.version + 1));
            events.add(new Event(put.key, created, revision));
            return Result.of(null, null, 0);
        }

        private Result anyBefore(AnyBefore any) {
            Result found = Result.of(null, null, queue(keys, any.prefix).size());
            for (Map.Entry<String, Entry> each : keys.tailMap(any.prefix).entrySet()) {
                if (each.getKey().startsWith(any.prefix) && each.getValue().createRevision < any.revision) {
                    return Result.of(each.getKey(), each.getValue(), found.count);
                }
            }
            return found;
        }

        private boolean isTrue(Compare compare) {
            if (compare instanceof CreatedAt at) {
                Entry entry = keys.get(at.key);
                return (entry == null ? 0 : entry.createRevision) == at.revision;
            }
            if (compare instanceof Exists exists) {
                return keys.containsKey(exists.key);
            }
            if (compare instanceof HasValue has) {
                Entry entry = keys.get(has.key);
                return entry != null && entry.value.equals(has.value);
            }
            HasVersion has = (HasVersion) compare;
            Entry entry = keys.get(has.key);
            return (entry == null ? 0 : entry.version) == has.version;
        }
    }
}

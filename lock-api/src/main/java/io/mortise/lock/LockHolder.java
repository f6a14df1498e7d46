// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * One holder of a lock, or one waiter, as the store shows it. What it says was written by that process and is untrusted (S19).
 * Immutable: each method with a parameter returns a changed copy. Two are equal if all that is known of them is.
 */
public final class LockHolder {
    private final Known known;

    private record Known(
            @Nullable String owner,
            String raw,
            @Nullable String host,
            @Nullable Long pid,
            @Nullable Instant since,
            @Nullable Long token,
            Map<String, String> metadata) {}

    private LockHolder(Known known) {
        this.known = known;
    }

    /**
     * A holder that Mortise made.
     *
     * @param owner see {@link #owner()}
     * @param raw see {@link #raw()}
     */
    public static LockHolder of(String owner, String raw) {
        Objects.requireNonNull(owner, "owner");
        return new LockHolder(new Known(owner, Objects.requireNonNull(raw, "raw"), null, null, null, null, Map.of()));
    }

    /**
     * A holder that another client made: a Curator node, a bare key.
     *
     * @param raw see {@link #raw()}
     */
    public static LockHolder foreign(String raw) {
        return new LockHolder(new Known(null, Objects.requireNonNull(raw, "raw"), null, null, null, null, Map.of()));
    }

    /** See {@link #host()}. */
    public LockHolder host(String host) {
        Objects.requireNonNull(host, "host");
        return new LockHolder(
                new Known(known.owner, known.raw, host, known.pid, known.since, known.token, known.metadata));
    }

    /** See {@link #pid()}. */
    public LockHolder pid(long pid) {
        return new LockHolder(
                new Known(known.owner, known.raw, known.host, pid, known.since, known.token, known.metadata));
    }

    /** See {@link #since()}. */
    public LockHolder since(Instant since) {
        Objects.requireNonNull(since, "since");
        return new LockHolder(
                new Known(known.owner, known.raw, known.host, known.pid, since, known.token, known.metadata));
    }

    /** See {@link #token()}. */
    public LockHolder token(long token) {
        return new LockHolder(
                new Known(known.owner, known.raw, known.host, known.pid, known.since, token, known.metadata));
    }

    /** The same without a token. */
    public LockHolder withoutToken() {
        return new LockHolder(
                new Known(known.owner, known.raw, known.host, known.pid, known.since, null, known.metadata));
    }

    /** See {@link #metadata()}. */
    public LockHolder metadata(Map<String, String> metadata) {
        return new LockHolder(new Known(
                known.owner, known.raw, known.host, known.pid, known.since, known.token, Map.copyOf(metadata)));
    }

    /** {@link Lease#ownerId()} of the grant; empty of a foreign one. */
    public Optional<String> owner() {
        return Optional.ofNullable(known.owner);
    }

    /** The host name that the process gave. */
    public Optional<String> host() {
        return Optional.ofNullable(known.host);
    }

    /** The process id on that host. */
    public OptionalLong pid() {
        return known.pid == null ? OptionalLong.empty() : OptionalLong.of(known.pid);
    }

    /** When it asked for the lock, by its own wall clock. */
    public Optional<Instant> since() {
        return Optional.ofNullable(known.since);
    }

    /** Its fencing token. */
    public OptionalLong token() {
        return known.token == null ? OptionalLong.empty() : OptionalLong.of(known.token);
    }

    /** {@link LockOptions#metadata()}; of a foreign one what the backend can tell of it, such as {@code client}, what made it. */
    public Map<String, String> metadata() {
        return known.metadata;
    }

    /** Whether another client made it; then little else is known. */
    public boolean foreign() {
        return known.owner == null;
    }

    /** The stored text of the grant or the queue entry, unchanged. */
    public String raw() {
        return known.raw;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof LockHolder holder && holder.known.equals(known);
    }

    @Override
    public int hashCode() {
        return known.hashCode();
    }

    @Override
    public String toString() {
        return "LockHolder" + known.toString().substring("Known".length());
    }
}

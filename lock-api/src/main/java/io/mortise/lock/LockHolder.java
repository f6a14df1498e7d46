// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * A holder of a lock, or a waiter for it, as recorded in the store.
 *
 * <p>The process in question wrote the recorded text, so the text is untrusted (S19). Immutable and thread-safe; each method
 * with a parameter returns a changed copy. Two instances are equal if all their fields are equal.
 */
public final class LockHolder {
    private final Known known;

    /** The values of all fields; null if the store does not show the value. */
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
     * Creates a holder that a Mortise client recorded.
     *
     * @param owner see {@link #owner()}
     * @param raw see {@link #raw()}
     */
    public static LockHolder of(String owner, String raw) {
        Objects.requireNonNull(owner, "owner");
        return new LockHolder(new Known(owner, Objects.requireNonNull(raw, "raw"), null, null, null, null, Map.of()));
    }

    /**
     * Creates a holder that another library or tool recorded, such as a Curator node or a plain key.
     *
     * @param raw see {@link #raw()}
     */
    public static LockHolder foreign(String raw) {
        return new LockHolder(new Known(null, Objects.requireNonNull(raw, "raw"), null, null, null, null, Map.of()));
    }

    /** Returns a copy with the given {@linkplain #host() host}. */
    public LockHolder host(String host) {
        Objects.requireNonNull(host, "host");
        return new LockHolder(
                new Known(known.owner, known.raw, host, known.pid, known.since, known.token, known.metadata));
    }

    /** Returns a copy with the given {@linkplain #pid() process id}. */
    public LockHolder pid(long pid) {
        return new LockHolder(
                new Known(known.owner, known.raw, known.host, pid, known.since, known.token, known.metadata));
    }

    /** Returns a copy with the given {@linkplain #since() time of the request}. */
    public LockHolder since(Instant since) {
        Objects.requireNonNull(since, "since");
        return new LockHolder(
                new Known(known.owner, known.raw, known.host, known.pid, since, known.token, known.metadata));
    }

    /** Returns a copy with the given {@linkplain #token() fencing token}. */
    public LockHolder token(long token) {
        return new LockHolder(
                new Known(known.owner, known.raw, known.host, known.pid, known.since, token, known.metadata));
    }

    /** Returns a copy without a fencing token. */
    public LockHolder withoutToken() {
        return new LockHolder(
                new Known(known.owner, known.raw, known.host, known.pid, known.since, null, known.metadata));
    }

    /** Returns a copy with the given {@linkplain #metadata() metadata}. */
    public LockHolder metadata(Map<String, String> metadata) {
        return new LockHolder(new Known(
                known.owner, known.raw, known.host, known.pid, known.since, known.token, Map.copyOf(metadata)));
    }

    /** Returns the {@linkplain Lease#ownerId() owner id} of the grant; empty for a {@linkplain #isForeign() foreign} holder. */
    public Optional<String> owner() {
        return Optional.ofNullable(known.owner);
    }

    /** Returns the host name that the process recorded. */
    public Optional<String> host() {
        return Optional.ofNullable(known.host);
    }

    /** Returns the process id on that host. */
    public OptionalLong pid() {
        return known.pid == null ? OptionalLong.empty() : OptionalLong.of(known.pid);
    }

    /** Returns when the process requested the lock, by the wall clock of its host. */
    public Optional<Instant> since() {
        return Optional.ofNullable(known.since);
    }

    /** Returns the fencing token of the grant, or the token that a waiter's grant will have; empty if the store shows none. */
    public OptionalLong token() {
        return known.token == null ? OptionalLong.empty() : OptionalLong.of(known.token);
    }

    /**
     * Returns the {@linkplain LockOptions#metadata() metadata} of the lock's options. For a foreign holder, returns what the
     * backend knows about it, such as the entry {@code client} for the library that recorded it.
     */
    public Map<String, String> metadata() {
        return known.metadata;
    }

    /** Returns whether another library or tool recorded this holder; then most other fields are empty. */
    public boolean isForeign() {
        return known.owner == null;
    }

    /** Returns the text of the grant or queue entry, exactly as stored. */
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

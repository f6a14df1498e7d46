// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import io.mortise.lock.internal.DurationLimits;
import io.mortise.lock.internal.TextEscaper;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Options of the leases of one lock: duration, maximum hold and metadata. Immutable and thread-safe; each method with a
 * parameter returns a changed copy, and rejects an invalid value with an {@link IllegalArgumentException} (S14).
 */
public final class LockOptions {
    /** The maximum size of the {@link #metadata} in bytes of UTF-8, in its stored, escaped form. */
    public static final int MAX_METADATA_BYTES = 1024;

    private static final LockOptions DEFAULTS = new LockOptions(Optional.empty(), Optional.empty(), Map.of());

    private final Optional<Duration> leaseDuration;
    private final Optional<Duration> maxHold;
    private final Map<String, String> metadata;

    private LockOptions(Optional<Duration> leaseDuration, Optional<Duration> maxHold, Map<String, String> metadata) {
        this.leaseDuration = leaseDuration;
        this.maxHold = maxHold;
        this.metadata = metadata;
    }

    /** Returns the default options: the lease duration of the backend, no maximum hold, no metadata. */
    public static LockOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Sets how long the store keeps a grant if its holder stops renewing it.
     *
     * <p>A shorter duration frees the lock of a crashed holder sooner; with a longer one, a lease survives longer pauses and
     * outages. The client rounds the duration up to one that the store supports (S14). Default: that of the
     * backend, which is 30 s on Redis, Redlock and memory.
     *
     * @param duration 1 second to 1 hour; only for backends with {@link Capability#PER_LOCK_LEASE}
     */
    public LockOptions leaseDuration(Duration duration) {
        DurationLimits.within("leaseDuration", duration, DurationLimits.SHORTEST_LEASE, DurationLimits.LONGEST_LEASE);
        return new LockOptions(Optional.of(duration), maxHold, metadata);
    }

    /**
     * Sets the longest time for which one lease is held; then it is lost with {@link LossReason.Kind#MAX_HOLD}. Default: no
     * limit.
     *
     * @param duration more than zero, at most 36,500 days
     */
    public LockOptions maxHold(Duration duration) {
        return new LockOptions(leaseDuration, Optional.of(DurationLimits.positive("maxHold", duration)), metadata);
    }

    /**
     * Sets the key-value pairs that operators see with each holder (S18). The store keeps them as plain text: do not put
     * secrets into them. Default: none.
     *
     * @param pairs at most {@link #MAX_METADATA_BYTES} bytes in their stored form
     */
    public LockOptions metadata(Map<String, String> pairs) {
        Map<String, String> copy = Map.copyOf(Objects.requireNonNull(pairs, "pairs"));
        int bytes = TextEscaper.metadata(copy).length() /* ASCII */;
        if (bytes > MAX_METADATA_BYTES) {
            throw new IllegalArgumentException(
                    "metadata takes " + bytes + " bytes when stored, must be at most " + MAX_METADATA_BYTES);
        }
        return new LockOptions(leaseDuration, maxHold, copy);
    }

    /** Returns the {@linkplain #leaseDuration(Duration) lease duration}; empty for that of the backend. */
    public Optional<Duration> leaseDuration() {
        return leaseDuration;
    }

    /** Returns the {@linkplain #maxHold(Duration) maximum hold}; empty for no limit. */
    public Optional<Duration> maxHold() {
        return maxHold;
    }

    /** Returns the {@linkplain #metadata(Map) metadata}. */
    public Map<String, String> metadata() {
        return metadata;
    }

    @Override
    public String toString() {
        return "LockOptions[leaseDuration=" + leaseDuration + ", maxHold=" + maxHold + ", metadata=" + metadata + "]";
    }
}

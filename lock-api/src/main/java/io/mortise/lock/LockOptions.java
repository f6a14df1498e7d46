// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import io.mortise.lock.internal.DurationLimits;
import io.mortise.lock.internal.TextEscaper;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** Options of the leases of one lock: duration, maximum hold, metadata. Immutable: each method returns a changed copy. */
public final class LockOptions {
    /** Most bytes of UTF-8 that {@link #metadata} may take in its stored, escaped form. */
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

    /** The backend's lease duration, no maximum hold, no metadata. */
    public static LockOptions defaults() {
        return DEFAULTS;
    }

    /**
     * How long the store keeps a grant whose holder went silent: shorter frees a crashed holder's lock sooner, longer
     * rides out longer pauses and outages. Default: the backend's. Rounded up to what the store can do (S14).
     *
     * @param duration 1 second to 1 hour; only on backends with {@link Capability#PER_LOCK_LEASE}
     */
    public LockOptions leaseDuration(Duration duration) {
        DurationLimits.within("leaseDuration", duration, DurationLimits.SHORTEST_LEASE, DurationLimits.LONGEST_LEASE);
        return new LockOptions(Optional.of(duration), maxHold, metadata);
    }

    /** The longest that one lease is kept by renewal, then it is lost with {@link LossReason.Kind#MAX_HOLD}. Default: no limit. */
    public LockOptions maxHold(Duration duration) {
        return new LockOptions(leaseDuration, Optional.of(DurationLimits.positive("maxHold", duration)), metadata);
    }

    /** What operators see beside each holder. Stored in the clear: no secrets. Default: none. */
    public LockOptions metadata(Map<String, String> pairs) {
        Map<String, String> copy = Map.copyOf(Objects.requireNonNull(pairs, "pairs"));
        int bytes = TextEscaper.metadata(copy).length() /* ASCII */;
        if (bytes > MAX_METADATA_BYTES) {
            throw new IllegalArgumentException(
                    "metadata takes " + bytes + " bytes when stored, must be at most " + MAX_METADATA_BYTES);
        }
        return new LockOptions(leaseDuration, maxHold, copy);
    }

    /** See {@link #leaseDuration(Duration)}; empty: the backend's. */
    public Optional<Duration> leaseDuration() {
        return leaseDuration;
    }

    /** See {@link #maxHold(Duration)}; empty: no limit. */
    public Optional<Duration> maxHold() {
        return maxHold;
    }

    /** See {@link #metadata(Map)}. */
    public Map<String, String> metadata() {
        return metadata;
    }

    @Override
    public String toString() {
        return "LockOptions[leaseDuration=" + leaseDuration + ", maxHold=" + maxHold + ", metadata=" + metadata + "]";
    }
}

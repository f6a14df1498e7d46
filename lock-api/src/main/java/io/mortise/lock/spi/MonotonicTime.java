// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import java.time.Duration;

/**
 * Instant on a {@link LockClock}: when a request was sent, or a deadline. It is comparable only with instants of the same clock,
 * and unrelated to the time of day. Immutable.
 *
 * @param nanos nanoseconds since an origin that the clock chooses; may be negative, and may wrap around like
 *     {@link System#nanoTime()}
 */
public record MonotonicTime(long nanos) {
    /** Returns the instant that much later, or earlier if the amount is negative. */
    public MonotonicTime plus(Duration amount) {
        return new MonotonicTime(nanos + amount.toNanos());
    }

    /** Returns the instant that much earlier. */
    public MonotonicTime minus(Duration amount) {
        return new MonotonicTime(nanos - amount.toNanos());
    }

    /** Returns the time from this instant to the other; negative if the other is earlier. */
    public Duration until(MonotonicTime other) {
        return Duration.ofNanos(other.nanos - nanos);
    }

    /** Returns whether this instant comes before the other. */
    public boolean isBefore(MonotonicTime other) {
        return nanos - other.nanos < 0;
    }

    /** Returns whether this instant comes after the other. */
    public boolean isAfter(MonotonicTime other) {
        return other.isBefore(this);
    }

    /** Returns the later one of this and the other. */
    public MonotonicTime orLater(MonotonicTime other) {
        return isBefore(other) ? other : this;
    }

    /** Returns the earlier one of this and the other. */
    public MonotonicTime orEarlier(MonotonicTime other) {
        return other.isBefore(this) ? other : this;
    }
}

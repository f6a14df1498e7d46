// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import java.time.Duration;

/**
 * An instant on a {@link LockClock}, such as a deadline. It is comparable only with instants of the same clock, and unrelated
 * to the time of day. Immutable and thread-safe.
 *
 * @param nanos nanoseconds since an origin that the clock chooses; may be negative, and may wrap around like
 *     {@link System#nanoTime()}
 */
public record MonotonicTime(long nanos) {
    /** Returns the instant that is later by the amount, or earlier if the amount is negative. */
    public MonotonicTime plus(Duration amount) {
        return new MonotonicTime(nanos + amount.toNanos());
    }

    /** Returns the instant that is earlier by the amount. */
    public MonotonicTime minus(Duration amount) {
        return new MonotonicTime(nanos - amount.toNanos());
    }

    /** Returns the time from this instant to the other one; negative if the other one is earlier. */
    public Duration until(MonotonicTime other) {
        return Duration.ofNanos(other.nanos - nanos);
    }

    /** Returns whether this instant is before the other one. */
    public boolean isBefore(MonotonicTime other) {
        return nanos - other.nanos < 0;
    }

    /** Returns whether this instant is after the other one. */
    public boolean isAfter(MonotonicTime other) {
        return other.isBefore(this);
    }

    /** Returns the later one of the two instants. */
    public MonotonicTime orLater(MonotonicTime other) {
        return isBefore(other) ? other : this;
    }

    /** Returns the earlier one of the two instants. */
    public MonotonicTime orEarlier(MonotonicTime other) {
        return other.isBefore(this) ? other : this;
    }
}

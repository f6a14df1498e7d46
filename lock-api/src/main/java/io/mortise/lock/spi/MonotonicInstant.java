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
public record MonotonicInstant(long nanos) {
    /** Returns the instant that is later by the amount, or earlier if the amount is negative. */
    public MonotonicInstant plus(Duration amount) {
        return new MonotonicInstant(nanos + amount.toNanos());
    }

    /** Returns the instant that is earlier by the amount. */
    public MonotonicInstant minus(Duration amount) {
        return new MonotonicInstant(nanos - amount.toNanos());
    }

    /** Returns the time from this instant to the other one; negative if the other one is earlier. */
    public Duration until(MonotonicInstant other) {
        return Duration.ofNanos(other.nanos - nanos);
    }

    /** Returns whether this instant is before the other one. */
    public boolean isBefore(MonotonicInstant other) {
        return nanos - other.nanos < 0;
    }

    /** Returns whether this instant is after the other one. */
    public boolean isAfter(MonotonicInstant other) {
        return other.isBefore(this);
    }

    /** Returns the later one of the two instants. */
    public MonotonicInstant orLater(MonotonicInstant other) {
        return isBefore(other) ? other : this;
    }

    /** Returns the earlier one of the two instants. */
    public MonotonicInstant orEarlier(MonotonicInstant other) {
        return other.isBefore(this) ? other : this;
    }
}

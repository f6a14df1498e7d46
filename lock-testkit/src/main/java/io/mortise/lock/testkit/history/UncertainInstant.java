// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import java.time.Duration;

/**
 * An instant that is known only to lie between two bounds.
 *
 * @param earliest lower bound, inclusive, in nanoseconds since the {@link History} began
 * @param latest upper bound, inclusive, in nanoseconds since the {@link History} began
 */
public record UncertainInstant(long earliest, long latest) {
    public UncertainInstant {
        if (latest < earliest) {
            throw new IllegalArgumentException("a span from " + earliest + " to " + latest + " ends before it begins");
        }
    }

    /** Returns an instant that is known exactly. */
    public static UncertainInstant at(long nanos) {
        return new UncertainInstant(nanos, nanos);
    }

    /** Returns whether this instant was certainly before the other, wherever the two lie between their bounds. */
    public boolean isBefore(UncertainInstant other) {
        return latest < other.earliest;
    }

    /** Converts this instant to a clock that is ahead of its own by an amount within {@code offset}. */
    UncertainInstant plus(UncertainInstant offset) {
        return new UncertainInstant(earliest + offset.earliest, latest + offset.latest);
    }

    UncertainInstant later(Duration by) {
        return new UncertainInstant(earliest + by.toNanos(), latest + by.toNanos());
    }
}

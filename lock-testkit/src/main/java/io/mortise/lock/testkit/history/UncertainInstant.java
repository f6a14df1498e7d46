// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import java.time.Duration;

/**
 * An instant that is known only to lie between {@code earliest} and {@code latest}, both included. In nanoseconds since the
 * {@link History} began.
 */
public record UncertainInstant(long earliest, long latest) {
    public UncertainInstant {
        if (latest < earliest) {
            throw new IllegalArgumentException("a span from " + earliest + " to " + latest + " ends before it begins");
        }
    }

    /** Exactly then. */
    public static UncertainInstant at(long nanos) {
        return new UncertainInstant(nanos, nanos);
    }

    /** Whether this was before the other for certain, wherever in their spans the two instants lie. */
    public boolean isBefore(UncertainInstant other) {
        return latest < other.earliest;
    }

    /** On a clock that is ahead of this one by some amount within {@code offset}. */
    UncertainInstant plus(UncertainInstant offset) {
        return new UncertainInstant(earliest + offset.earliest, latest + offset.latest);
    }

    UncertainInstant later(Duration by) {
        return new UncertainInstant(earliest + by.toNanos(), latest + by.toNanos());
    }
}

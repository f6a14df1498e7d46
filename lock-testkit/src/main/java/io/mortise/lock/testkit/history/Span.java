// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import java.time.Duration;

/**
 * When something happened: at one instant from {@code earliest} to {@code latest}, both included, nobody knows which. In
 * nanoseconds since the {@link History} began.
 */
public record Span(long earliest, long latest) {
    public Span {
        if (latest < earliest) {
            throw new IllegalArgumentException("a span from " + earliest + " to " + latest + " ends before it begins");
        }
    }

    /** Exactly then. */
    public static Span at(long nanos) {
        return new Span(nanos, nanos);
    }

    /** Whether this was before the other for certain, wherever in their spans the two instants lie. */
    public boolean isBefore(Span other) {
        return latest < other.earliest;
    }

    /** On a clock that is ahead of this one by some amount within {@code offset}. */
    Span plus(Span offset) {
        return new Span(earliest + offset.earliest, latest + offset.latest);
    }

    Span later(Duration by) {
        return new Span(earliest + by.toNanos(), latest + by.toNanos());
    }
}

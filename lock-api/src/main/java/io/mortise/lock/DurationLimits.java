// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import java.time.Duration;
import java.util.Objects;

/** Checks of durations that name the value and the limit (S14). */
final class DurationLimits {
    /** Beyond this, arithmetic in nanoseconds of a {@code long} would be at risk. */
    static final Duration LONGEST = Duration.ofDays(36_500);

    static final Duration SHORTEST_LEASE = Duration.ofSeconds(1);
    static final Duration LONGEST_LEASE = Duration.ofHours(1);

    private DurationLimits() {}

    static Duration within(String what, Duration value, Duration least, Duration most) {
        Objects.requireNonNull(value, what);
        if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
            throw new IllegalArgumentException(what + " is " + value + ", must be from " + least + " to " + most);
        }
        return value;
    }

    static Duration positive(String what, Duration value) {
        Objects.requireNonNull(value, what);
        if (value.isNegative() || value.isZero()) {
            throw new IllegalArgumentException(what + " is " + value + ", must be more than zero");
        }
        if (value.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(what + " is " + value + ", must be at most " + LONGEST);
        }
        return value;
    }
}

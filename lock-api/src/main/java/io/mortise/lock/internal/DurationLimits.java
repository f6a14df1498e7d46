// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.internal;

import java.time.Duration;
import java.util.Objects;

/** Checks durations; errors name the value and the limit (S14). */
public final class DurationLimits {
    /** Beyond this, arithmetic in nanoseconds of a {@code long} would be at risk. */
    public static final Duration LONGEST = Duration.ofDays(36_500);

    /** Shortest lease that an application may ask for. */
    public static final Duration SHORTEST_LEASE = Duration.ofSeconds(1);
    /** Longest lease that an application may ask for. */
    public static final Duration LONGEST_LEASE = Duration.ofHours(1);

    private DurationLimits() {}

    /** Refuses what is not from {@code least} to {@code most}. */
    public static Duration within(String what, Duration value, Duration least, Duration most) {
        Objects.requireNonNull(value, what);
        if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
            throw new IllegalArgumentException(what + " is " + value + ", must be from " + least + " to " + most);
        }
        return value;
    }

    /** Refuses what is not more than zero and at most {@link #LONGEST}. */
    public static Duration positive(String what, Duration value) {
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

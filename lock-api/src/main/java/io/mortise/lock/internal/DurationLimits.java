// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.internal;

import java.time.Duration;
import java.util.Objects;

/** Validates durations that the application sets. Each exception names the value and the limit (S14). */
public final class DurationLimits {
    /** The longest valid duration; longer ones could overflow a {@code long} of nanoseconds in calculations. */
    public static final Duration LONGEST = Duration.ofDays(36_500);

    /** The shortest lease duration that an application can set. */
    public static final Duration SHORTEST_LEASE = Duration.ofSeconds(1);
    /** The longest lease duration that an application can set. */
    public static final Duration LONGEST_LEASE = Duration.ofHours(1);

    private DurationLimits() {}

    /**
     * Returns the duration if it is from {@code least} to {@code most}.
     *
     * @param what the name of the option, for the message
     * @throws IllegalArgumentException if it is not
     */
    public static Duration within(String what, Duration value, Duration least, Duration most) {
        Objects.requireNonNull(value, what);
        if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
            throw new IllegalArgumentException(what + " is " + value + ", must be from " + least + " to " + most);
        }
        return value;
    }

    /**
     * Returns the duration if it is more than zero and at most {@link #LONGEST}.
     *
     * @param what the name of the option, for the message
     * @throws IllegalArgumentException if it is not
     */
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

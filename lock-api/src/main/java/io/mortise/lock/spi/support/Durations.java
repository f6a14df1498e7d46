// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.support;

import java.time.Duration;

/** Compares durations. */
public final class Durations {
    private Durations() {}

    /** Returns the shorter one. */
    public static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    /** Returns the longer one. */
    public static Duration longer(Duration one, Duration other) {
        return one.compareTo(other) > 0 ? one : other;
    }

    /** Returns whether it is more than zero. */
    public static boolean isPositive(Duration duration) {
        return !duration.isNegative() && !duration.isZero();
    }
}

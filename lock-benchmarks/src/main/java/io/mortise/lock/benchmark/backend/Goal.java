// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

import java.util.Optional;

/**
 * What a figure of Mortise is to reach.
 *
 * @param scenario which scenario's figure
 * @param measure which figure of it
 * @param against the contender that the figure is divided by; empty: the figure itself counts
 * @param atLeast whether the bound is a least value, else it is a greatest one
 * @param bound reached when met exactly
 */
public record Goal(String scenario, String measure, Optional<String> against, boolean atLeast, double bound) {
    /** Mortise's figure divided by that of the other is at least so much. */
    public static Goal ratioAtLeast(double bound, String against, String scenario, String measure) {
        return new Goal(scenario, measure, Optional.of(against), true, bound);
    }

    /** Mortise's figure is at most so much. */
    public static Goal atMost(double bound, String scenario, String measure) {
        return new Goal(scenario, measure, Optional.empty(), false, bound);
    }

    /** Whether a figure, or a ratio where there is a contender to divide by, reaches the goal. */
    public boolean reachedBy(double value) {
        return atLeast ? value >= bound : value <= bound;
    }
}

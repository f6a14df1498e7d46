// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

import java.util.Optional;

/**
 * Goal for a figure of Mortise.
 *
 * @param scenario which scenario's figure
 * @param measure which figure of it
 * @param against what the figure is divided by; empty: the figure itself counts
 * @param atLeast whether the bound is a least value, else it is a greatest one
 * @param bound reached when met exactly
 */
public record PerformanceTarget(
        String scenario, String measure, Optional<Figure> against, boolean atLeast, double bound) {
    /** The figure of another competitor, of the same scenario or another one of the run. */
    public record Figure(String competitor, String scenario, String measure) {
        @Override
        public String toString() {
            return competitor + " " + scenario + " " + measure;
        }
    }

    /** Mortise's figure divided by that of the other is at least so much. */
    public static PerformanceTarget ratioAtLeast(double bound, String against, String scenario, String measure) {
        return new PerformanceTarget(
                scenario, measure, Optional.of(new Figure(against, scenario, measure)), true, bound);
    }

    /** The same by another figure, of a scenario that was run before: for a competitor that cannot do the same work. */
    public PerformanceTarget by(String otherScenario, String otherMeasure) {
        Figure other = new Figure(against.orElseThrow().competitor(), otherScenario, otherMeasure);
        return new PerformanceTarget(scenario, measure, Optional.of(other), atLeast, bound);
    }

    /** Whether it divides by a figure of another scenario. */
    public boolean spansScenarios() {
        return against.filter(other -> !other.scenario().equals(scenario)).isPresent();
    }

    /** Mortise's figure is at most so much. */
    public static PerformanceTarget atMost(double bound, String scenario, String measure) {
        return new PerformanceTarget(scenario, measure, Optional.empty(), false, bound);
    }

    /** Whether a figure, or a ratio where there is a competitor to divide by, reaches the goal. */
    public boolean reachedBy(double value) {
        return atLeast ? value >= bound : value <= bound;
    }
}

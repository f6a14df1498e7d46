// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

import java.util.Optional;

/**
 * A performance goal for one benchmark measurement of Mortise.
 *
 * @param scenario name of the scenario
 * @param measure name of the measurement in that scenario
 * @param against the measurement to divide by; if empty, the goal is about Mortise's measurement itself
 * @param atLeast whether the bound is a minimum; otherwise it is a maximum
 * @param bound limit of the value, inclusive
 */
public record PerformanceGoal(
        String scenario, String measure, Optional<Figure> against, boolean atLeast, double bound) {
    /** A measurement of another competitor, in the same scenario or in another scenario of the same run. */
    public record Figure(String competitor, String scenario, String measure) {
        @Override
        public String toString() {
            return competitor + " " + scenario + " " + measure;
        }
    }

    /** Returns the goal that Mortise's measurement divided by another competitor's is at least {@code bound}. */
    public static PerformanceGoal ratioAtLeast(double bound, String against, String scenario, String measure) {
        return new PerformanceGoal(scenario, measure, Optional.of(new Figure(against, scenario, measure)), true, bound);
    }

    /**
     * Returns the same goal, but with the ratio to the competitor's measurement in another scenario that was run before. For a
     * competitor that cannot do the same work.
     */
    public PerformanceGoal by(String otherScenario, String otherMeasure) {
        Figure other = new Figure(against.orElseThrow().competitor(), otherScenario, otherMeasure);
        return new PerformanceGoal(scenario, measure, Optional.of(other), atLeast, bound);
    }

    /** Returns whether the goal divides by a measurement of another scenario. */
    public boolean spansScenarios() {
        return against.filter(other -> !other.scenario().equals(scenario)).isPresent();
    }

    /** Returns the goal that Mortise's measurement is at most {@code bound}. */
    public static PerformanceGoal atMost(double bound, String scenario, String measure) {
        return new PerformanceGoal(scenario, measure, Optional.empty(), false, bound);
    }

    /** Returns whether a measurement, or a ratio if there is a competitor to divide by, reaches the goal. */
    public boolean reachedBy(double value) {
        return atLeast ? value >= bound : value <= bound;
    }
}

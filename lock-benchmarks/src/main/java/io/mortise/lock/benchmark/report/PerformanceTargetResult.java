// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.report;

import io.mortise.lock.benchmark.backend.PerformanceTarget;
import io.mortise.lock.benchmark.backend.TestBed;
import java.util.List;
import java.util.Optional;

/** A goal and what was reached of it. */
public record PerformanceTargetResult(PerformanceTarget goal, double value) {
    /**
     * Those goals that are about this scenario and competitors of this run.
     *
     * @param run all scenarios so far on the same backend, this one included
     */
    public static List<PerformanceTargetResult> of(
            ScenarioResult result, List<ScenarioResult> run, List<PerformanceTarget> goals) {
        return goals.stream()
                .filter(goal -> goal.scenario().equals(result.scenario()))
                .filter(goal -> goal.against().isEmpty()
                        || find(goal.against().get(), run).isPresent())
                .map(goal -> new PerformanceTargetResult(goal, value(result, run, goal)))
                .toList();
    }

    private static double value(ScenarioResult result, List<ScenarioResult> run, PerformanceTarget goal) {
        double own = median(result, TestBed.MORTISE, goal.measure());
        return goal.against()
                .map(other -> own / median(find(other, run).orElseThrow(), other.competitor(), other.measure()))
                .orElse(own);
    }

    private static Optional<ScenarioResult> find(PerformanceTarget.Figure figure, List<ScenarioResult> run) {
        return run.stream()
                .filter(result -> result.scenario().equals(figure.scenario())
                        && result.competitors().contains(figure.competitor()))
                .findFirst();
    }

    private static double median(ScenarioResult result, String competitor, String measure) {
        return MedianAndRange.of(result.values(competitor, measure)).median();
    }

    /** The verdict on one cell of the table, if there is one. */
    static Optional<PerformanceTargetResult> on(
            List<PerformanceTargetResult> verdicts, String measure, Optional<String> against) {
        return verdicts.stream()
                .filter(verdict -> !verdict.goal.spansScenarios())
                .filter(verdict -> verdict.goal.measure().equals(measure)
                        && verdict.goal
                                .against()
                                .map(PerformanceTarget.Figure::competitor)
                                .equals(against))
                .findFirst();
    }

    /** Whether the goal is reached. */
    public boolean reached() {
        return goal.reachedBy(value);
    }

    @Override
    public String toString() {
        double bound = goal.bound();
        String shown = bound == Math.rint(bound) ? Long.toString(Math.round(bound)) : Double.toString(bound);
        return (goal.atLeast() ? ">=" : "<=") + shown + (reached() ? " ok" : " MISSED");
    }
}

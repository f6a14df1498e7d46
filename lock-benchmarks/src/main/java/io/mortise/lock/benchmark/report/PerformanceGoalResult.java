// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.report;

import io.mortise.lock.benchmark.backend.PerformanceGoal;
import io.mortise.lock.benchmark.backend.TestBed;
import java.util.List;
import java.util.Optional;

/** Compares a performance goal with the value that Mortise reached. */
public record PerformanceGoalResult(PerformanceGoal goal, double value) {
    /**
     * Returns the results of the goals that apply to this scenario and to competitors of this run.
     *
     * @param run results of all scenarios so far on the same backend, including this one
     */
    public static List<PerformanceGoalResult> of(
            ScenarioResult result, List<ScenarioResult> run, List<PerformanceGoal> goals) {
        return goals.stream()
                .filter(goal -> goal.scenario().equals(result.scenario()))
                .filter(goal -> goal.against().isEmpty()
                        || find(goal.against().get(), run).isPresent())
                .map(goal -> new PerformanceGoalResult(goal, value(result, run, goal)))
                .toList();
    }

    private static double value(ScenarioResult result, List<ScenarioResult> run, PerformanceGoal goal) {
        double own = median(result, TestBed.MORTISE, goal.measure());
        return goal.against()
                .map(other -> own / median(find(other, run).orElseThrow(), other.competitor(), other.measure()))
                .orElse(own);
    }

    private static Optional<ScenarioResult> find(PerformanceGoal.Figure figure, List<ScenarioResult> run) {
        return run.stream()
                .filter(result -> result.scenario().equals(figure.scenario())
                        && result.competitors().contains(figure.competitor()))
                .findFirst();
    }

    private static double median(ScenarioResult result, String competitor, String measure) {
        return MedianAndRange.of(result.values(competitor, measure)).median();
    }

    /** Returns the result of the goal that belongs to one cell of the table, if there is one. */
    static Optional<PerformanceGoalResult> on(
            List<PerformanceGoalResult> verdicts, String measure, Optional<String> against) {
        return verdicts.stream()
                .filter(verdict -> !verdict.goal.spansScenarios())
                .filter(verdict -> verdict.goal.measure().equals(measure)
                        && verdict.goal
                                .against()
                                .map(PerformanceGoal.Figure::competitor)
                                .equals(against))
                .findFirst();
    }

    /** Returns whether Mortise reached the goal. */
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

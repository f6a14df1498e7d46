// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.report;

import io.mortise.lock.benchmark.backend.Backend;
import io.mortise.lock.benchmark.backend.Goal;
import java.util.List;
import java.util.Optional;

/** A goal and what was reached of it: a ratio of medians, or Mortise's own median. */
public record Verdict(Goal goal, double value) {
    /** Those goals that are about this scenario and its contenders. */
    public static List<Verdict> of(Result result, List<Goal> goals) {
        return goals.stream()
                .filter(goal -> goal.scenario().equals(result.scenario()))
                .filter(goal -> result.contenders()
                        .containsAll(goal.against().map(List::of).orElse(List.of())))
                .map(goal -> new Verdict(goal, value(result, goal)))
                .toList();
    }

    private static double value(Result result, Goal goal) {
        List<Double> own = result.values(Backend.MORTISE, goal.measure());
        return goal.against()
                .map(other ->
                        Ratio.of(own, result.values(other, goal.measure())).ofMedians())
                .orElseGet(() -> Spread.of(own).median());
    }

    /** The verdict on one cell of the table, if there is one. */
    static Optional<Verdict> on(List<Verdict> verdicts, String measure, Optional<String> against) {
        return verdicts.stream()
                .filter(verdict -> verdict.goal.measure().equals(measure)
                        && verdict.goal.against().equals(against))
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

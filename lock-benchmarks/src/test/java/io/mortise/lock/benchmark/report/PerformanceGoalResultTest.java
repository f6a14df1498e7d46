// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.mortise.lock.benchmark.backend.PerformanceGoal;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PerformanceGoalResultTest {
    private static PerformanceGoalResult of(PerformanceGoal goal) {
        return PerformanceGoalResult.of(Samples.result(), List.of(Samples.result()), List.of(goal))
                .get(0);
    }

    @Test
    void ratioIsOfTheMedians() {
        PerformanceGoalResult verdict = of(PerformanceGoal.ratioAtLeast(2, "peer", "one-thread", "cycles/s"));
        assertThat(verdict.value()).isEqualTo(2);
        assertThat(verdict.reached()).isTrue();
        assertThat(of(PerformanceGoal.ratioAtLeast(2.01, "peer", "one-thread", "cycles/s"))
                        .reached())
                .isFalse();
    }

    @Test
    void boundAppliesToMortisesMeasurement() {
        PerformanceGoalResult verdict = of(PerformanceGoal.atMost(20_000, "one-thread", "cycles/s"));
        assertThat(verdict.value()).isEqualTo(20_000);
        assertThat(verdict.reached()).isTrue();
        assertThat(of(PerformanceGoal.atMost(19_999, "one-thread", "cycles/s")).reached())
                .isFalse();
    }

    @Test
    void goalsOfOtherScenariosAndAbsentCompetitorsAreSkipped() {
        List<PerformanceGoal> goals = List.of(
                PerformanceGoal.atMost(1, "another", "cycles/s"),
                PerformanceGoal.ratioAtLeast(1, "nobody", "one-thread", "cycles/s"));
        assertThat(PerformanceGoalResult.of(Samples.result(), List.of(Samples.result()), goals))
                .isEmpty();
    }

    @Test
    void ratioMaySpanScenariosOfOneRun() {
        ScenarioResult other = new ScenarioResult(
                "store",
                "contended",
                "sample description",
                WarmUpReport.NOT_MEASURED,
                Map.of("mortise", Samples.rounds(0, 100_000, 50_000, 400_000)));
        List<PerformanceGoal> goals = List.of(PerformanceGoal.ratioAtLeast(0.5, "raw", "contended", "cycles/s")
                .by("one-thread", "cycles/s"));
        assertThat(PerformanceGoalResult.of(other, List.of(other), goals))
                .as("the other scenario was not run")
                .isEmpty();
        List<PerformanceGoalResult> verdicts = PerformanceGoalResult.of(other, List.of(Samples.result(), other), goals);
        assertThat(verdicts).extracting(PerformanceGoalResult::value).containsExactly(0.5);
        assertThat(BenchmarkTable.of(other, verdicts))
                .contains("  cycles/s by raw one-thread cycles/s: 0.50 x  >=0.5 ok\n");
    }

    @Test
    void goalForUnknownMeasurementIsAnError() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> of(PerformanceGoal.atMost(1, "one-thread", "nonsense")))
                .withMessage("store one-thread has no \"nonsense\" of mortise");
    }
}

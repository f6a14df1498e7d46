// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.mortise.lock.benchmark.backend.PerformanceTarget;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PerformanceTargetResultTest {
    private static PerformanceTargetResult of(PerformanceTarget goal) {
        return PerformanceTargetResult.of(Samples.result(), List.of(Samples.result()), List.of(goal))
                .get(0);
    }

    @Test
    void aRatioIsThatOfTheMedians() {
        PerformanceTargetResult verdict = of(PerformanceTarget.ratioAtLeast(2, "peer", "one-thread", "cycles/s"));
        assertThat(verdict.value()).isEqualTo(2);
        assertThat(verdict.reached()).isTrue();
        assertThat(of(PerformanceTarget.ratioAtLeast(2.01, "peer", "one-thread", "cycles/s"))
                        .reached())
                .isFalse();
    }

    @Test
    void aBoundIsForMortiseItself() {
        PerformanceTargetResult verdict = of(PerformanceTarget.atMost(20_000, "one-thread", "cycles/s"));
        assertThat(verdict.value()).isEqualTo(20_000);
        assertThat(verdict.reached()).isTrue();
        assertThat(of(PerformanceTarget.atMost(19_999, "one-thread", "cycles/s"))
                        .reached())
                .isFalse();
    }

    @Test
    void goalsOfOtherScenariosAndAbsentContendersSayNothing() {
        List<PerformanceTarget> goals = List.of(
                PerformanceTarget.atMost(1, "another", "cycles/s"),
                PerformanceTarget.ratioAtLeast(1, "nobody", "one-thread", "cycles/s"));
        assertThat(PerformanceTargetResult.of(Samples.result(), List.of(Samples.result()), goals))
                .isEmpty();
    }

    @Test
    void aRatioMaySpanScenariosOfOneRun() {
        ScenarioResult other = new ScenarioResult(
                "store",
                "contended",
                "as tests have it",
                WarmUpReport.UNWATCHED,
                Map.of("mortise", Samples.rounds(0, 100_000, 50_000, 400_000)));
        List<PerformanceTarget> goals = List.of(PerformanceTarget.ratioAtLeast(0.5, "raw", "contended", "cycles/s")
                .by("one-thread", "cycles/s"));
        assertThat(PerformanceTargetResult.of(other, List.of(other), goals))
                .as("the other scenario was not run")
                .isEmpty();
        List<PerformanceTargetResult> verdicts =
                PerformanceTargetResult.of(other, List.of(Samples.result(), other), goals);
        assertThat(verdicts).extracting(PerformanceTargetResult::value).containsExactly(0.5);
        assertThat(BenchmarkTable.of(other, verdicts))
                .contains("  cycles/s by raw one-thread cycles/s: 0.50 x  >=0.5 ok\n");
    }

    @Test
    void aGoalForAFigureThatNobodyMeasuresIsAMistake() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> of(PerformanceTarget.atMost(1, "one-thread", "nonsense")))
                .withMessage("store one-thread has no \"nonsense\" of mortise");
    }
}

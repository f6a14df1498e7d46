// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.mortise.lock.benchmark.backend.Goal;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class VerdictTest {
    private static Verdict of(Goal goal) {
        return Verdict.of(Samples.result(), List.of(Samples.result()), List.of(goal))
                .get(0);
    }

    @Test
    void aRatioIsThatOfTheMedians() {
        Verdict verdict = of(Goal.ratioAtLeast(2, "peer", "one-thread", "cycles/s"));
        assertThat(verdict.value()).isEqualTo(2);
        assertThat(verdict.reached()).isTrue();
        assertThat(of(Goal.ratioAtLeast(2.01, "peer", "one-thread", "cycles/s")).reached())
                .isFalse();
    }

    @Test
    void aBoundIsForMortiseItself() {
        Verdict verdict = of(Goal.atMost(20_000, "one-thread", "cycles/s"));
        assertThat(verdict.value()).isEqualTo(20_000);
        assertThat(verdict.reached()).isTrue();
        assertThat(of(Goal.atMost(19_999, "one-thread", "cycles/s")).reached()).isFalse();
    }

    @Test
    void goalsOfOtherScenariosAndAbsentContendersSayNothing() {
        List<Goal> goals = List.of(
                Goal.atMost(1, "another", "cycles/s"), Goal.ratioAtLeast(1, "nobody", "one-thread", "cycles/s"));
        assertThat(Verdict.of(Samples.result(), List.of(Samples.result()), goals))
                .isEmpty();
    }

    @Test
    void aRatioMaySpanScenariosOfOneRun() {
        Result other = new Result(
                "store",
                "contended",
                "as tests have it",
                WarmedUp.UNWATCHED,
                Map.of("mortise", Samples.rounds(0, 100_000, 50_000, 400_000)));
        List<Goal> goals =
                List.of(Goal.ratioAtLeast(0.5, "raw", "contended", "cycles/s").by("one-thread", "cycles/s"));
        assertThat(Verdict.of(other, List.of(other), goals))
                .as("the other scenario was not run")
                .isEmpty();
        List<Verdict> verdicts = Verdict.of(other, List.of(Samples.result(), other), goals);
        assertThat(verdicts).extracting(Verdict::value).containsExactly(0.5);
        assertThat(Table.of(other, verdicts)).contains("  cycles/s by raw one-thread cycles/s: 0.50 x  >=0.5 ok\n");
    }

    @Test
    void aGoalForAFigureThatNobodyMeasuresIsAMistake() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> of(Goal.atMost(1, "one-thread", "nonsense")))
                .withMessage("store one-thread has no \"nonsense\" of mortise");
    }
}

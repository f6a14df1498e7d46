// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.mortise.lock.benchmark.backend.Goal;
import java.util.List;
import org.junit.jupiter.api.Test;

class VerdictTest {
    private static Verdict of(Goal goal) {
        return Verdict.of(Samples.result(), List.of(goal)).get(0);
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
        assertThat(Verdict.of(Samples.result(), goals)).isEmpty();
    }

    @Test
    void aGoalForAFigureThatNobodyMeasuresIsAMistake() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> of(Goal.atMost(1, "one-thread", "nonsense")))
                .withMessage("store one-thread has no \"nonsense\" of mortise");
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.api.Test;

class FigureRatioTest {
    @Test
    void theRatioIsThatOfTheMediansAndTheRangeThatOfTheRounds() {
        // Medians 4 and 3; rounds 1.0, 4.0, 2.0.
        assertThat(FigureRatio.of(List.of(3.0, 4.0, 8.0), List.of(3.0, 1.0, 4.0)))
                .isEqualTo(new FigureRatio(4.0 / 3.0, 1.0, 4.0));
    }

    @Test
    void theOrderOfTheRoundsCountsForTheRangeAlone() {
        FigureRatio ratio = FigureRatio.of(List.of(8.0, 3.0, 4.0), List.of(3.0, 1.0, 4.0));
        assertThat(ratio).isEqualTo(new FigureRatio(4.0 / 3.0, 1.0, 3.0));
    }

    @Test
    void nothingByNothingIsNoNumber() {
        assertThat(FigureRatio.of(List.of(0.0), List.of(0.0)).ofMedians()).isNaN();
    }

    @Test
    void roundsMustPair() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> FigureRatio.of(List.of(1.0, 2.0), List.of(1.0)))
                .withMessage("2 rounds against 1");
    }
}

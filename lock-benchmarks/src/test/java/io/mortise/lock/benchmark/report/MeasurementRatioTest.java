// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.api.Test;

class MeasurementRatioTest {
    @Test
    void ratioIsOfTheMediansAndRangeIsOfTheRounds() {
        // Medians 4 and 3; rounds 1.0, 4.0, 2.0.
        assertThat(MeasurementRatio.of(List.of(3.0, 4.0, 8.0), List.of(3.0, 1.0, 4.0)))
                .isEqualTo(new MeasurementRatio(4.0 / 3.0, 1.0, 4.0));
    }

    @Test
    void orderOfRoundsAffectsOnlyTheRange() {
        MeasurementRatio ratio = MeasurementRatio.of(List.of(8.0, 3.0, 4.0), List.of(3.0, 1.0, 4.0));
        assertThat(ratio).isEqualTo(new MeasurementRatio(4.0 / 3.0, 1.0, 3.0));
    }

    @Test
    void zeroByZeroIsNaN() {
        assertThat(MeasurementRatio.of(List.of(0.0), List.of(0.0)).ofMedians()).isNaN();
    }

    @Test
    void numbersOfRoundsMustBeEqual() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> MeasurementRatio.of(List.of(1.0, 2.0), List.of(1.0)))
                .withMessage("2 rounds against 1");
    }
}

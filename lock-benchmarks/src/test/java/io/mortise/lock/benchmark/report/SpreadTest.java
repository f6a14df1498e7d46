// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.api.Test;

class SpreadTest {
    @Test
    void theMedianOfFiveIsTheThird() {
        assertThat(Spread.of(List.of(9.0, 1.0, 5.0, 7.0, 2.0))).isEqualTo(new Spread(5, 1, 9));
    }

    @Test
    void theMedianOfFourIsTheMeanOfTheTwoInTheMiddle() {
        assertThat(Spread.of(List.of(4.0, 1.0, 3.0, 2.0))).isEqualTo(new Spread(2.5, 1, 4));
    }

    @Test
    void oneValueIsAllOfIt() {
        assertThat(Spread.of(List.of(3.0))).isEqualTo(new Spread(3, 3, 3));
    }

    @Test
    void noValuesHaveNoMedian() {
        assertThatIllegalArgumentException().isThrownBy(() -> Spread.of(List.of()));
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.api.Test;

class MedianAndRangeTest {
    @Test
    void medianOfFiveIsTheThird() {
        assertThat(MedianAndRange.of(List.of(9.0, 1.0, 5.0, 7.0, 2.0))).isEqualTo(new MedianAndRange(5, 1, 9));
    }

    @Test
    void medianOfFourIsTheMeanOfTheTwoMiddleValues() {
        assertThat(MedianAndRange.of(List.of(4.0, 1.0, 3.0, 2.0))).isEqualTo(new MedianAndRange(2.5, 1, 4));
    }

    @Test
    void singleValueIsMedianMinimumAndMaximum() {
        assertThat(MedianAndRange.of(List.of(3.0))).isEqualTo(new MedianAndRange(3, 3, 3));
    }

    @Test
    void noValuesAreAnError() {
        assertThatIllegalArgumentException().isThrownBy(() -> MedianAndRange.of(List.of()));
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SteadyStateCheckTest {
    private final SteadyStateCheck steady = new SteadyStateCheck(3, 0.1);

    private static List<Double> series(String values) {
        return Arrays.stream(values.split(" ")).map(Double::valueOf).toList();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            10 10 10 10 10 10      | true  | constant
            10 10 10 10 10         | false | one round too few to decide
            30 20 10 10 10 10      | false | most of the preceding rounds were higher
            30 20 15 10 10 10 10 10 | true  | only the last six rounds matter
            10 10 10 9 9 9         | true  | lower by exactly the tolerance
            10 10 10 8.9 8.9 8.9   | false | lower by more than the tolerance
            8.9 8.9 8.9 10 10 10   | false | higher by more than the tolerance
            10 40 10 10 10 1       | true  | one disturbed round of three does not matter
            10 10 10 40 40 10      | false | two disturbed rounds do
            10 9.6 9.2 8.8 8.5 8.1 | false | a constant decrease is not a steady state
            12 9 10 10 12 9        | true  | variation around the same median
            0 0 0 0 0 0            | true  | all zero
            0 0 0 1 1 1            | false | an increase from zero
            """)
    void isSteady(String values, boolean expected, String why) {
        assertThat(steady.isSteady(series(values))).as(why).isEqualTo(expected);
    }

    @Test
    void warmingUpJvmIsSteadyOnlyNearItsFinalSpeed() {
        // Ten times the final cost at first, and the excess halves with every three rounds.
        List<Double> series = new ArrayList<>();
        while (!steady.isSteady(series)) {
            series.add(1 + 9 * Math.pow(2, -series.size() / 3.0));
        }
        assertThat(series.get(series.size() - 1)).isBetween(1.0, 1.15);
    }

    @Test
    void invalidSettingsAreRejected() {
        assertThatIllegalArgumentException().isThrownBy(() -> new SteadyStateCheck(0, 0.1));
        assertThatIllegalArgumentException().isThrownBy(() -> new SteadyStateCheck(3, 1));
        assertThatIllegalArgumentException().isThrownBy(() -> new SteadyStateCheck(3, Double.NaN));
    }
}

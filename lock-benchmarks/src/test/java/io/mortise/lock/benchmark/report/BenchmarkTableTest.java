// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.benchmark.backend.PerformanceGoal;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BenchmarkTableTest {
    @Test
    void tableShowsMeasurementsRatiosAndGoals() {
        List<PerformanceGoal> goals = List.of(
                PerformanceGoal.ratioAtLeast(2, "peer", "one-thread", "cycles/s"),
                PerformanceGoal.ratioAtLeast(1.35, "raw", "one-thread", "cycles/s"),
                PerformanceGoal.atMost(0, "one-thread", "requests per cycle"),
                PerformanceGoal.atMost(0, "another", "cycles/s"));

        String table = BenchmarkTable.of(
                Samples.result(), PerformanceGoalResult.of(Samples.result(), List.of(Samples.result()), goals));

        assertThat(table).isEqualTo("""
                store one-thread: sample description
                                                    median        min .. max    ratio      min .. max  goal
                  cycles/s                mortise   20,000  10,000 .. 30,000
                                          raw         200k      100k .. 250k   0.10 x    0.10 .. 0.12  >=1.35 MISSED
                                          peer      10,000  10,000 .. 10,000   2.00 x    1.00 .. 3.00  >=2 ok
                  requests per cycle      mortise     0.00      0.00 .. 0.00                           <=0 ok
                                          raw         0.00      0.00 .. 0.00        -
                                          peer        2.50      2.50 .. 2.50  0.000 x  0.000 .. 0.000
                  requests per cycle, mortise: create2 0.00, delete 1.00
                  requests per cycle, raw: create2 0.00, delete 1.00
                  requests per cycle, peer: create2 2.50, delete 1.00
                  warmed up for 2 rounds, by cycles/s; NOT STEADY: peer
                """);
        assertThat(table.lines()).allMatch(line -> line.length() <= 100);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            0          | 0.00
            0.00021    | 0.0002
            0.0123     | 0.012
            0.1        | 0.10
            1.349      | 1.35
            12.34      | 12.3
            1234       | 1,234
            99999      | 99,999
            123456     | 123k
            5797813    | 5.80M
            """)
    void numbersHaveAboutThreeDigits(double value, String shown) {
        assertThat(BenchmarkTable.number(value)).isEqualTo(shown);
    }
}

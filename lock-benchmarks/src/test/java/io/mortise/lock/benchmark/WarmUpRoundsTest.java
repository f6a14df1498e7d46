// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.mortise.lock.benchmark.backend.Competitor;
import io.mortise.lock.benchmark.report.WarmUpReport;
import io.mortise.lock.benchmark.scenario.RoundMeasurements;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WarmUpRoundsTest {
    private final List<Competitor> competitors =
            List.of(FakeTestBed.competitor("a", 1, 1), FakeTestBed.competitor("b", 1, 1));
    private final List<String> turns = new ArrayList<>();

    /** Runs a warm-up in which each competitor measures the values of its list, and then the last one repeatedly. */
    private WarmUpReport run(int maxRounds, Map<String, List<Double>> script) throws Exception {
        WarmUpRounds warmUp = new WarmUpRounds(maxRounds, new SteadyStateCheck(1, 0.1));
        return warmUp.run(competitors, "cost", competitor -> {
            List<Double> own = script.getOrDefault(competitor.name(), List.of());
            long round = turns.stream().filter(competitor.name()::equals).count();
            turns.add(competitor.name());
            return new RoundMeasurements(Map.of("cost", own.get(Math.min((int) round, own.size() - 1))), Map.of(), "");
        });
    }

    @Test
    void endsAsSoonAsAllCompetitorsAreSteady() throws Exception {
        WarmUpReport warmUpReport = run(9, Map.of("a", List.of(5.0), "b", List.of(4.0, 3.0, 2.0)));

        assertThat(turns).as("a continues until b is steady").containsExactly("a", "b", "b", "a", "b", "a", "a", "b");
        assertThat(warmUpReport)
                .isEqualTo(new WarmUpReport(
                        "cost", Map.of("a", List.of(5.0, 5.0, 5.0, 5.0), "b", List.of(4.0, 3.0, 2.0, 2.0)), List.of()));
    }

    @Test
    void continuesForACompetitorThatBecomesUnsteadyAgain() throws Exception {
        WarmUpReport warmUpReport = run(9, Map.of("a", List.of(5.0, 5.0, 1.0, 1.0), "b", List.of(4.0, 3.0, 2.0, 2.0)));

        assertThat(warmUpReport.length()).isEqualTo(4);
        assertThat(warmUpReport.unsteady()).isEmpty();
    }

    @Test
    void endsAfterMaxRoundsAndReportsUnsteadyCompetitors() throws Exception {
        WarmUpReport warmUpReport = run(3, Map.of("a", List.of(5.0), "b", List.of(4.0, 3.0, 2.0)));

        assertThat(turns).hasSize(6);
        assertThat(warmUpReport.unsteady()).containsExactly("b");
        assertThat(warmUpReport.length()).isEqualTo(3);
    }

    @Test
    void withoutRoundsNoCompetitorRunsAndNoneCountsAsSteady() throws Exception {
        WarmUpReport warmUpReport = run(0, Map.of());

        assertThat(turns).isEmpty();
        assertThat(warmUpReport.unsteady()).containsExactly("a", "b");
        assertThat(warmUpReport.length()).isZero();
    }

    @Test
    void unknownMeasurementIsAnError() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> WarmUpRounds.upTo(3)
                        .run(competitors, "speed", any -> new RoundMeasurements(Map.of("cost", 1.0), Map.of(), "")))
                .withMessage("no \"speed\" among [cost]");
    }
}

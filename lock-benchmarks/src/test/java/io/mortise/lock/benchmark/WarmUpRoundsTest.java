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

    /** Each competitor's own list is its script; its last value stays. */
    private WarmUpReport run(int most, Map<String, List<Double>> script) throws Exception {
        WarmUpRounds warmUp = new WarmUpRounds(most, new SteadyStateCheck(1, 0.1));
        return warmUp.run(competitors, "cost", competitor -> {
            List<Double> own = script.getOrDefault(competitor.name(), List.of());
            long round = turns.stream().filter(competitor.name()::equals).count();
            turns.add(competitor.name());
            return new RoundMeasurements(Map.of("cost", own.get(Math.min((int) round, own.size() - 1))), Map.of(), "");
        });
    }

    @Test
    void endsAsSoonAsTheFigureStandsStillForAll() throws Exception {
        WarmUpReport warmedUp = run(9, Map.of("a", List.of(5.0), "b", List.of(4.0, 3.0, 2.0)));

        assertThat(turns).as("a goes on until b is done").containsExactly("a", "b", "b", "a", "b", "a", "a", "b");
        assertThat(warmedUp)
                .isEqualTo(new WarmUpReport(
                        "cost", Map.of("a", List.of(5.0, 5.0, 5.0, 5.0), "b", List.of(4.0, 3.0, 2.0, 2.0)), List.of()));
    }

    @Test
    void whoMovesAgainIsWaitedForAgain() throws Exception {
        WarmUpReport warmedUp = run(9, Map.of("a", List.of(5.0, 5.0, 1.0, 1.0), "b", List.of(4.0, 3.0, 2.0, 2.0)));

        assertThat(warmedUp.length()).isEqualTo(4);
        assertThat(warmedUp.moving()).isEmpty();
    }

    @Test
    void endsAtItsBoundAndNamesWhoStillMoves() throws Exception {
        WarmUpReport warmedUp = run(3, Map.of("a", List.of(5.0), "b", List.of(4.0, 3.0, 2.0)));

        assertThat(turns).hasSize(6);
        assertThat(warmedUp.moving()).containsExactly("b");
        assertThat(warmedUp.length()).isEqualTo(3);
    }

    @Test
    void withoutRoundsNobodyRunsAndNobodyCountsAsSteady() throws Exception {
        WarmUpReport warmedUp = run(0, Map.of());

        assertThat(turns).isEmpty();
        assertThat(warmedUp.moving()).containsExactly("a", "b");
        assertThat(warmedUp.length()).isZero();
    }

    @Test
    void aFigureThatNobodyMeasuresIsAMistake() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> WarmUpRounds.upTo(3)
                        .run(competitors, "speed", any -> new RoundMeasurements(Map.of("cost", 1.0), Map.of(), "")))
                .withMessage("no \"speed\" among [cost]");
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.benchmark.backend.Competitor;
import io.mortise.lock.benchmark.backend.CompetitorSession;
import io.mortise.lock.benchmark.report.ScenarioResult;
import io.mortise.lock.benchmark.report.WarmUpReport;
import io.mortise.lock.benchmark.scenario.CompetitorRoundRunner;
import io.mortise.lock.benchmark.scenario.RoundMeasurements;
import io.mortise.lock.benchmark.scenario.RoundSize;
import io.mortise.lock.benchmark.scenario.Scenario;
import io.mortise.lock.benchmark.scenario.Scenarios;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ScenarioRunnerTest {
    private static final RoundSize ROUND_SIZE = new RoundSize(Duration.ofMillis(1), true);
    private static final WarmUpRounds WARM_UP = new WarmUpRounds(5, new SteadyStateCheck(1, 0.1));

    private final List<Competitor> competitors = List.of(
            FakeTestBed.competitor("a", 1, 1), FakeTestBed.competitor("b", 1, 1), FakeTestBed.competitor("c", 1, 1));
    private final List<String> order = new ArrayList<>();

    private Scenario counting(Optional<String> warmUpMeasure) {
        return new Scenario() {
            @Override
            public String name() {
                return "counting";
            }

            @Override
            public String description() {
                return "counts its rounds";
            }

            @Override
            public Optional<String> warmUpMeasure() {
                return warmUpMeasure;
            }

            @Override
            public RoundMeasurements run(CompetitorRoundRunner round) {
                order.add(round.toString().replaceAll(".*, ", ""));
                Map<String, Double> values = Map.of("rounds before", order.size() - 1.0, "constant", 7.0);
                return new RoundMeasurements(values, Map.of(), "");
            }
        };
    }

    private ScenarioResult run(WarmUpRounds warmUp, Optional<String> warmUpMeasure) throws Exception {
        return new ScenarioRunner(ROUND_SIZE, warmUp, 3, any -> true)
                .run(new FakeTestBed(competitors), counting(warmUpMeasure));
    }

    @Test
    void orderOfCompetitorsChangesWithEachRound() throws Exception {
        ScenarioResult result = run(WarmUpRounds.upTo(0), Optional.empty());

        assertThat(order).containsExactly("a", "b", "c", "c", "b", "a", "b", "c", "a");
        assertThat(result.competitors()).containsExactly("a", "b", "c");
        assertThat(result.values("a", "rounds before")).containsExactly(0.0, 5.0, 8.0);
    }

    @Test
    void allCompetitorsWarmUpBeforeTheFirstMeasuredRound() throws Exception {
        ScenarioResult result = run(WARM_UP, Optional.of("constant"));

        assertThat(order).startsWith("a", "b", "c", "c", "b", "a", "a").hasSize(15);
        assertThat(result.values("a", "rounds before")).containsExactly(6.0, 11.0, 14.0);
        List<Double> twice = List.of(7.0, 7.0);
        assertThat(result.warmUpReport())
                .isEqualTo(new WarmUpReport("constant", Map.of("a", twice, "b", twice, "c", twice), List.of()));
    }

    @Test
    void competitorThatNeverBecomesSteadyIsMeasuredAndReported() throws Exception {
        ScenarioResult result = run(new WarmUpRounds(3, new SteadyStateCheck(1, 0)), Optional.of("rounds before"));

        assertThat(order).hasSize(18);
        assertThat(result.warmUpReport().unsteady()).containsExactly("a", "b", "c");
        assertThat(result.values("a", "rounds before")).containsExactly(9.0, 14.0, 17.0);
    }

    @Test
    void warmUpBypassesTheDelayingProxy() throws Exception {
        List<String> endpoints = new ArrayList<>();
        Competitor competitor = new Competitor() {
            @Override
            public String name() {
                return "a";
            }

            @Override
            public String description() {
                return "records where it connects";
            }

            @Override
            public CompetitorSession open(String endpoint) throws Exception {
                endpoints.add(endpoint);
                return competitors.get(0).open(endpoint);
            }
        };
        Scenario delayed = Scenarios.all().stream()
                .filter(scenario -> scenario.name().equals("one-thread-5ms"))
                .findFirst()
                .orElseThrow();

        new ScenarioRunner(ROUND_SIZE, WarmUpRounds.upTo(1), 1, any -> true)
                .run(new FakeTestBed(List.of(competitor), "127.0.0.1:1"), delayed);

        assertThat(endpoints).hasSize(2).first().isEqualTo("127.0.0.1:1");
        assertThat(endpoints.get(1)).isNotEqualTo("127.0.0.1:1");
    }

    @Test
    void scenarioWithoutWarmUpMeasureWarmsUpForOneRound() throws Exception {
        ScenarioResult result = run(WARM_UP, Optional.empty());

        assertThat(order).startsWith("a", "b", "c", "a").hasSize(12);
        assertThat(result.warmUpReport()).isEqualTo(WarmUpReport.NOT_MEASURED);
        assertThat(result.values("a", "rounds before")).containsExactly(3.0, 8.0, 11.0);
    }
}

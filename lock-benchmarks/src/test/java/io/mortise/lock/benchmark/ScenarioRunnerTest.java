// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.benchmark.backend.Competitor;
import io.mortise.lock.benchmark.backend.CompetitorSession;
import io.mortise.lock.benchmark.report.ScenarioResult;
import io.mortise.lock.benchmark.report.WarmUpReport;
import io.mortise.lock.benchmark.scenario.CompetitorRound;
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
    private static final RoundSize EFFORT = new RoundSize(Duration.ofMillis(1), true);
    private static final WarmUpRounds WARM_UP = new WarmUpRounds(5, new SteadyStateCheck(1, 0.1));

    private final List<Competitor> competitors = List.of(
            FakeTestBed.competitor("a", 1, 1), FakeTestBed.competitor("b", 1, 1), FakeTestBed.competitor("c", 1, 1));
    private final List<String> order = new ArrayList<>();

    private Scenario counting(Optional<String> warmedUpBy) {
        return new Scenario() {
            @Override
            public String name() {
                return "counting";
            }

            @Override
            public String description() {
                return "counts its trials";
            }

            @Override
            public Optional<String> warmedUpBy() {
                return warmedUpBy;
            }

            @Override
            public RoundMeasurements run(CompetitorRound trial) {
                order.add(trial.toString().replaceAll(".*, ", ""));
                Map<String, Double> values = Map.of("trials before", order.size() - 1.0, "constant", 7.0);
                return new RoundMeasurements(values, Map.of(), "");
            }
        };
    }

    private ScenarioResult run(WarmUpRounds warmUp, Optional<String> warmedUpBy) throws Exception {
        return new ScenarioRunner(EFFORT, warmUp, 3).run(new FakeTestBed(competitors), counting(warmedUpBy));
    }

    @Test
    void contendersTakeTurnsInAnotherOrderEachRound() throws Exception {
        ScenarioResult result = run(WarmUpRounds.upTo(0), Optional.empty());

        assertThat(order).containsExactly("a", "b", "c", "c", "b", "a", "b", "c", "a");
        assertThat(result.competitors()).containsExactly("a", "b", "c");
        assertThat(result.values("a", "trials before")).containsExactly(0.0, 5.0, 8.0);
    }

    @Test
    void allHaveWarmedUpBeforeTheFirstRoundThatCounts() throws Exception {
        ScenarioResult result = run(WARM_UP, Optional.of("constant"));

        assertThat(order).startsWith("a", "b", "c", "c", "b", "a", "a").hasSize(15);
        assertThat(result.values("a", "trials before")).containsExactly(6.0, 11.0, 14.0);
        List<Double> twice = List.of(7.0, 7.0);
        assertThat(result.warmedUp())
                .isEqualTo(new WarmUpReport("constant", Map.of("a", twice, "b", twice, "c", twice), List.of()));
    }

    @Test
    void whoNeverComesToStandStillIsMeasuredAndNamed() throws Exception {
        ScenarioResult result = run(new WarmUpRounds(3, new SteadyStateCheck(1, 0)), Optional.of("trials before"));

        assertThat(order).hasSize(18);
        assertThat(result.warmedUp().moving()).containsExactly("a", "b", "c");
        assertThat(result.values("a", "trials before")).containsExactly(9.0, 14.0, 17.0);
    }

    @Test
    void warmUpGoesPastTheDelay() throws Exception {
        List<String> endpoints = new ArrayList<>();
        Competitor competitor = new Competitor() {
            @Override
            public String name() {
                return "a";
            }

            @Override
            public String description() {
                return "tells where it connects";
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

        new ScenarioRunner(EFFORT, WarmUpRounds.upTo(1), 1)
                .run(new FakeTestBed(List.of(competitor), "127.0.0.1:1"), delayed);

        assertThat(endpoints).hasSize(2).first().isEqualTo("127.0.0.1:1");
        assertThat(endpoints.get(1)).isNotEqualTo("127.0.0.1:1");
    }

    @Test
    void whereNoFigureDependsOnItOneRoundWarmsUp() throws Exception {
        ScenarioResult result = run(WARM_UP, Optional.empty());

        assertThat(order).startsWith("a", "b", "c", "a").hasSize(12);
        assertThat(result.warmedUp()).isEqualTo(WarmUpReport.UNWATCHED);
        assertThat(result.values("a", "trials before")).containsExactly(3.0, 8.0, 11.0);
    }
}

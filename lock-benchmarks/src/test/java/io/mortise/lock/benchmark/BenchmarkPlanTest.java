// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.benchmark.backend.TestBed;
import io.mortise.lock.benchmark.backend.TestBeds;
import io.mortise.lock.benchmark.report.JsonReport;
import io.mortise.lock.benchmark.report.ScenarioResult;
import io.mortise.lock.benchmark.scenario.CompetitorRound;
import io.mortise.lock.benchmark.scenario.RoundMeasurements;
import io.mortise.lock.benchmark.scenario.RoundSize;
import io.mortise.lock.benchmark.scenario.Scenario;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class BenchmarkPlanTest {
    private final List<String> happened = new ArrayList<>();
    private int stores;

    private TestBed store() {
        String endpoint = "store " + ++stores;
        return new FakeTestBed(List.of(FakeTestBed.competitor("a", 1, 1)), endpoint);
    }

    private Scenario scenario(String name) {
        return new Scenario() {
            @Override
            public String name() {
                return name;
            }

            @Override
            public String description() {
                return "tells where it is run";
            }

            @Override
            public RoundMeasurements run(CompetitorRound trial) {
                return new RoundMeasurements(Map.of("figure", 1.0), Map.of(), "");
            }
        };
    }

    @Test
    void eachScenarioHasAStoreOfItsOwn() throws Exception {
        BenchmarkPlan.Listener listener = new BenchmarkPlan.Listener() {
            @Override
            public void started(TestBed backend) {
                happened.add("started");
            }

            @Override
            public void done(ScenarioResult result, TestBed backend) {
                happened.add(result.scenario() + " on " + backend.endpoint());
            }
        };
        BenchmarkPlan plan = new BenchmarkPlan(
                List.of(new TestBeds.Startable("fake", this::store)), List.of(scenario("one"), scenario("two")));

        List<JsonReport.OfBackend> reports = plan.run(
                new ScenarioRunner(new RoundSize(Duration.ofMillis(1), true), WarmUpRounds.upTo(0), 1), listener);

        assertThat(happened).hasSize(3).first().isEqualTo("started");
        assertThat(happened.get(1)).startsWith("one on store ");
        assertThat(happened.get(2))
                .startsWith("two on store ")
                .doesNotEndWith(happened.get(1).substring("one on".length()));
        assertThat(reports).hasSize(1);
        assertThat(reports.get(0).results())
                .extracting(ScenarioResult::scenario)
                .containsExactly("one", "two");
    }
}

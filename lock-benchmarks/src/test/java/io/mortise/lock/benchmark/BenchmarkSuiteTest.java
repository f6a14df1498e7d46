// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.benchmark.backend.TestBed;
import io.mortise.lock.benchmark.report.JsonReport;
import io.mortise.lock.benchmark.report.ScenarioResult;
import io.mortise.lock.benchmark.scenario.CompetitorRoundRunner;
import io.mortise.lock.benchmark.scenario.RoundMeasurements;
import io.mortise.lock.benchmark.scenario.RoundSize;
import io.mortise.lock.benchmark.scenario.Scenario;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class BenchmarkSuiteTest {
    private final List<String> events = new ArrayList<>();
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
                return "records where it runs";
            }

            @Override
            public RoundMeasurements run(CompetitorRoundRunner round) {
                return new RoundMeasurements(Map.of("measurement", 1.0), Map.of(), "");
            }
        };
    }

    @Test
    void eachScenarioRunsOnItsOwnStore() throws Exception {
        BenchmarkSuite.Listener listener = new BenchmarkSuite.Listener() {
            @Override
            public void started(TestBed backend) {
                events.add("started");
            }

            @Override
            public void done(ScenarioResult result, TestBed backend) {
                events.add(result.scenario() + " on " + backend.endpoint());
            }
        };
        BenchmarkSuite plan = new BenchmarkSuite(
                List.of(FakeTestBed.startable(this::store)), List.of(scenario("one"), scenario("two")));

        List<JsonReport.OfBackend> reports = plan.run(
                new ScenarioRunner(new RoundSize(Duration.ofMillis(1), true), WarmUpRounds.upTo(0), 1, any -> true),
                listener);

        assertThat(events).hasSize(3).first().isEqualTo("started");
        assertThat(events.get(1)).startsWith("one on store ");
        assertThat(events.get(2))
                .startsWith("two on store ")
                .doesNotEndWith(events.get(1).substring("one on".length()));
        assertThat(reports).hasSize(1);
        assertThat(reports.get(0).results())
                .extracting(ScenarioResult::scenario)
                .containsExactly("one", "two");
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.benchmark.backend.TestBed;
import io.mortise.lock.benchmark.backend.TestBeds;
import io.mortise.lock.benchmark.report.Report;
import io.mortise.lock.benchmark.report.Result;
import io.mortise.lock.benchmark.scenario.Effort;
import io.mortise.lock.benchmark.scenario.Figures;
import io.mortise.lock.benchmark.scenario.Scenario;
import io.mortise.lock.benchmark.scenario.Trial;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PlanTest {
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
            public Figures run(Trial trial) {
                return new Figures(Map.of("figure", 1.0), Map.of(), "");
            }
        };
    }

    @Test
    void eachScenarioHasAStoreOfItsOwn() throws Exception {
        Plan.Listener listener = new Plan.Listener() {
            @Override
            public void started(TestBed backend) {
                happened.add("started");
            }

            @Override
            public void done(Result result, TestBed backend) {
                happened.add(result.scenario() + " on " + backend.endpoint());
            }
        };
        Plan plan = new Plan(
                List.of(new TestBeds.Startable("fake", this::store)), List.of(scenario("one"), scenario("two")));

        List<Report.OfBackend> reports =
                plan.run(new Runner(new Effort(Duration.ofMillis(1), true), WarmUp.upTo(0), 1), listener);

        assertThat(happened).hasSize(3).first().isEqualTo("started");
        assertThat(happened.get(1)).startsWith("one on store ");
        assertThat(happened.get(2))
                .startsWith("two on store ")
                .doesNotEndWith(happened.get(1).substring("one on".length()));
        assertThat(reports).hasSize(1);
        assertThat(reports.get(0).results()).extracting(Result::scenario).containsExactly("one", "two");
    }
}

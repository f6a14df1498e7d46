// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.benchmark.backend.PerformanceGoal;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.jr.ob.JSON;

class JsonReportTest {
    private static final PerformanceGoal GOAL = PerformanceGoal.ratioAtLeast(1.35, "peer", "one-thread", "cycles/s");

    @Test
    void jsonContainsEveryRound() {
        ScenarioResult result = Samples.result();
        JsonReport report = new JsonReport(
                MachineDescription.here("1.2.3"),
                Map.of("rounds", 3),
                List.of(new JsonReport.OfBackend(
                        "store",
                        "for tests",
                        Map.of("mortise", "ours"),
                        List.of(result),
                        PerformanceGoalResult.of(result, List.of(result), List.of(GOAL)))));

        String json = report.toJson().replaceAll("\\s+", "");

        assertThat(JSON.std.mapFrom(json)).containsOnlyKeys("environment", "settings", "backends");
        assertThat(json)
                .contains("\"mortise\":\"1.2.3\"", "\"cores\":", "\"jdk\":\"", "\"os\":\"", "\"loadBefore\":")
                .contains("\"settings\":{\"rounds\":3}")
                .contains("\"mortise\":{\"median\":20000.0,\"rounds\":[30000.0,10000.0,20000.0]}")
                .contains("\"warmUp\":{\"measure\":\"cycles/s\",\"rounds\":{", "\"peer\":[3.0,9.0]")
                .contains("},\"notSteady\":[\"peer\"]}")
                .contains("\"requestsPer\":\"cycle\"", "\"peer\":{\"create2\":2.5,\"delete\":1.0}")
                .contains(
                        "\"goals\":[{\"scenario\":\"one-thread\",\"measure\":\"cycles/s\",\"against\":\"peerone-threadcycles/s\","
                                + "\"atLeast\":1.35,\"value\":2.0,\"reached\":true}]");
    }
}

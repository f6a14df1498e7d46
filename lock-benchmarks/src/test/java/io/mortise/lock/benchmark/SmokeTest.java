// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.benchmark.backend.TestBed;
import io.mortise.lock.benchmark.backend.TestBeds;
import io.mortise.lock.benchmark.report.JsonReport;
import io.mortise.lock.benchmark.report.MedianAndRange;
import io.mortise.lock.benchmark.report.ScenarioResult;
import io.mortise.lock.benchmark.scenario.Scenario;
import io.mortise.lock.benchmark.scenario.Scenarios;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/** Tests that every scenario runs on every backend, with the shortest possible rounds. No assertion depends on speed. */
@Tag("long")
@TestInstance(TestInstance.Lifecycle.PER_CLASS) // one run for all tests
class SmokeTest {
    /** Measurements that may be zero: because zero is the best result, or because the clock is coarse. */
    private static final Set<String> MAY_BE_ZERO = Set.of(
            "work per renewal period",
            "ping per renewal period",
            "sync per renewal period",
            "check per renewal period",
            "added threads",
            "CPU per cycle, ms",
            "LeaseKeepAlive per renewal period",
            "Range per renewal period");

    /** Scenarios for Redlock: each takes long with five servers, and other backends cover the rest. */
    private static final List<String> ON_FIVE_SERVERS = List.of("contended", "crowd");

    private final List<JsonReport.OfBackend> reports = new ArrayList<>();
    private final StringWriter out = new StringWriter();
    private long goals;

    @BeforeAll
    @Timeout(value = 5, unit = TimeUnit.MINUTES) // takes seconds, unless the machine is very busy
    void runAll() throws Exception {
        ConsoleReport output = new ConsoleReport(new PrintWriter(out));
        BenchmarkSuite.Listener listener = new BenchmarkSuite.Listener() {
            @Override
            public void started(TestBed backend) {
                goals += backend.goals().stream()
                        .filter(goal -> measured(backend.name()).stream()
                                .anyMatch(scenario -> scenario.name().equals(goal.scenario())))
                        .count();
                output.started(backend);
            }

            @Override
            public void done(ScenarioResult result, TestBed backend) {
                output.done(result, backend);
            }
        };
        ScenarioRunner runner = new ScenarioRunner(BenchmarkCommand.SMOKE, WarmUpRounds.upTo(0), 1, any -> true);
        for (TestBeds.Startable backend : TestBeds.all()) {
            reports.addAll(new BenchmarkSuite(List.of(backend), measured(backend.name())).run(runner, listener));
        }
    }

    private static List<Scenario> measured(String backend) {
        return Scenarios.all().stream()
                .filter(scenario -> !backend.equals("redlock") || ON_FIVE_SERVERS.contains(scenario.name()))
                .toList();
    }

    private ScenarioResult zooKeeper(String scenario) {
        return reports.get(1).results().stream()
                .filter(result -> result.scenario().equals(scenario))
                .findFirst()
                .orElseThrow();
    }

    private double mortise(String scenario, String measure) {
        return MedianAndRange.of(zooKeeper(scenario).values(TestBed.MORTISE, measure))
                .median();
    }

    private static List<String> scenarios(JsonReport.OfBackend report) {
        return report.results().stream().map(ScenarioResult::scenario).toList();
    }

    @Test
    void everyScenarioRanOnEveryBackendThatSupportsIt() {
        assertThat(reports.stream().map(JsonReport.OfBackend::name))
                .containsExactly("memory", "zookeeper", "redis", "redlock", "etcd");
        assertThat(scenarios(reports.get(0)))
                .containsExactly("one-thread", "sixteen-locks", "contended", "crowd", "held");
        assertThat(scenarios(reports.get(1)))
                .isEqualTo(Scenarios.all().stream().map(Scenario::name).toList());
        assertThat(scenarios(reports.get(3))).isEqualTo(ON_FIVE_SERVERS);
    }

    @Test
    void everyMeasurementIsPresentAndPositive() {
        for (JsonReport.OfBackend report : reports) {
            for (ScenarioResult result : report.results()) {
                assertThat(result.measures()).as(result.scenario()).isNotEmpty();
                assertThat(report.competitors().keySet()).containsAll(result.competitors());
                assertThat(result.competitors()).startsWith(TestBed.MORTISE).hasSizeGreaterThan(1);
                for (String measure : result.measures()) {
                    for (String competitor : result.competitors()) {
                        assertThat(result.values(competitor, measure))
                                .as("%s %s, %s, %s", report.name(), result.scenario(), competitor, measure)
                                .hasSize(1)
                                .allMatch(Double::isFinite)
                                .allMatch(value -> value > 0 || (value == 0 && MAY_BE_ZERO.contains(measure)));
                    }
                }
            }
        }
    }

    @Test
    void everyGoalRefersToAnExistingMeasurement() {
        assertThat(reports.stream().mapToInt(report -> report.verdicts().size()).sum())
                .isEqualTo(goals)
                .isPositive();
    }

    @Test
    void heldLocksNeedOneWritePerRenewalPeriodAndNoThread() {
        assertThat(mortise("held", "work per renewal period")).isZero();
        assertThat(mortise("held", "check per renewal period"))
                .isLessThan(2.5); // one per period, and another one if one was late
        assertThat(mortise("held", "added threads")).isLessThan(10);
        assertThat(zooKeeper("held").requests(TestBed.MORTISE)).containsKey("check");
        assertThat(Set.of("check", "sync", "ping"))
                .containsAll(zooKeeper("held").requests(TestBed.MORTISE).keySet());
    }

    @Test
    void handOffInACrowdNeedsAtMostTwoRequests() {
        assertThat(mortise("crowd", "requests per hand-off")).isLessThanOrEqualTo(2);
        assertThat(zooKeeper("crowd").requests(TestBed.MORTISE))
                .as("one delete per waiter and one by the holder")
                .containsEntry("delete", 41 / 40.0);
    }

    @Test
    void tableIsAtMost100CharactersWide() {
        assertThat(out.toString().lines().toList()).allMatch(line -> line.length() <= 100);
        assertThat(out.toString()).contains("ZooKeeper 3.", "Curator 5.", "per hand-off, curator: delete 1.0");
    }
}

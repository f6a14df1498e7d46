// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.benchmark.backend.Competitor;
import io.mortise.lock.benchmark.backend.TestBeds;
import io.mortise.lock.benchmark.scenario.Scenario;
import io.mortise.lock.benchmark.scenario.Scenarios;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BenchmarkMainTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(List<TestBeds.Startable> backends, String... args) {
        return BenchmarkMain.run(backends, new PrintWriter(out), new PrintWriter(err), args);
    }

    private static List<TestBeds.Startable> fake(Competitor competitor) {
        return List.of(FakeTestBed.startable(() -> new FakeTestBed(List.of(competitor))));
    }

    @Test
    void helpListsEveryBackendAndScenario() {
        assertThat(run(TestBeds.all(), "--help")).isZero();
        String words = out.toString().replaceAll("\\s+", " ");
        assertThat(words)
                .contains(TestBeds.all().stream().map(TestBeds.Startable::name).toList())
                .contains(Scenarios.all().stream().map(Scenario::name).toList())
                .contains("Exit codes:", "docs/benchmarks.md");
        assertThat(run(TestBeds.all(), "--version")).isZero();
        assertThat(err.toString()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            --backend tablets     | --backend is tablets, must be one of memory, zookeeper
            --scenario fast     | --scenario is fast, must be one of one-thread, sixteen-locks,
            --rounds 0          | --rounds is 0, must be a whole number from 1 to 100
            --rounds 101        | --rounds is 101, must be a whole number from 1 to 100
            --rounds five       | --rounds is five, must be a whole number from 1 to 100
            --seconds 0         | --seconds is 0, must be a number of seconds from 0.01 to 60.0
            --seconds 61        | --seconds is 61, must be a number of seconds from 0.01 to 60.0
            --seconds NaN       | --seconds is NaN, must be a number of seconds from 0.01 to 60.0
            --warm-up 601       | --warm-up is 601, must be a whole number from 0 to 600
            --cold --warm-up 1  | --warm-up is 1, must be a whole number from 0 to 0
            --cold --seconds .5 | --seconds is .5, must be a whole number from 1 to 60
            --cold --scenario crowd               | --scenario is crowd, must be one of one-thread, sixteen-locks, contended
            --backend memory --competitor curator | --competitor is curator, must be one of mortise, raw
            --json /nosuch/file | --json is /nosuch/file, must be a file in an existing, writable directory
            --json .            | --json is ., must be a file
            --nosuch            | Unknown option: '--nosuch'
            """)
    void invalidCommandLineExitsWith64AndOneLineOfError(String line, String message) {
        assertThat(run(TestBeds.all(), line.split(" "))).isEqualTo(64);
        assertThat(err.toString()).startsWith("benchmark: ").contains(message, "; try 'benchmark --help'");
        assertThat(err.toString().lines()).hasSize(1);
        assertThat(out.toString()).isEmpty();
    }

    @Test
    void competitorWithMutualExclusionIsMeasured(@TempDir Path dir) throws IOException {
        Path json = dir.resolve("measurements.json");
        int code = run(fake(FakeTestBed.competitor("mortise", 1, 1)), "--smoke", "--json", json.toString());
        assertThat(code).as(err.toString()).isZero();
        assertThat(out.toString())
                .contains(
                        "fake one-thread",
                        "fake contended",
                        "Mutual exclusion held in every round. Goals reached: 0 of 0.")
                .doesNotContain("contended-5ms");
        assertThat(Files.readString(json)).contains("\"smoke\" : true", "\"name\" : \"contended\"");
    }

    @Test
    void reportNamesCompetitorsThatAreNotSteadyAfterWarmUp(@TempDir Path dir) throws IOException {
        Path json = dir.resolve("measurements.json");
        int code = run(
                fake(FakeTestBed.competitor("mortise", 1, 1)),
                "--smoke",
                "--warm-up=1",
                "--scenario=contended",
                "--json",
                json.toString());
        assertThat(code).as(err.toString()).isZero();
        assertThat(out.toString())
                .contains("warm-up: until results are steady, at most 1 s each")
                .contains("warmed up for 1 round, by CPU per cycle, ms; NOT STEADY: mortise");
        assertThat(Files.readString(json)).contains("\"warmUpSeconds\" : 1", "\"notSteady\" : [ \"mortise\" ]");
    }

    @Test
    void coldRoundsRunInNewJvmsOnTheStoreOfThisOne(@TempDir Path dir) throws IOException {
        Path json = dir.resolve("measurements.json");
        int code = run(
                TestBeds.all(),
                "--cold",
                "--smoke",
                "--backend=zookeeper",
                "--scenario=contended",
                "--competitor=raw",
                "--json",
                json.toString());
        assertThat(code).as(err.toString()).isZero();
        assertThat(out.toString())
                .contains("zookeeper contended-cold", "in second 1", "first grant, ms", "Goals reached: 0 of 0.")
                .doesNotContain("after second 5");
        assertThat(Files.readString(json).replaceAll("\\s+", ""))
                .containsPattern("\"perSecond\":\\{\"mortise\":\\[\\[[0-9.E]+]],\"raw\":\\[\\[[0-9.E]+]]}");
    }

    @Test
    void competitorsThatAreNotChosenDoNotRun() {
        int code = run(TestBeds.all(), "--smoke", "--backend=memory", "--scenario=one-thread", "--competitor=mortise");
        assertThat(code).as(err.toString()).isZero();
        assertThat(out.toString()).contains("cycles/s").doesNotContain(" x ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"contended", "crowd"})
    void competitorWithoutMutualExclusionFailsTheRun(String scenario) {
        int code = run(fake(FakeTestBed.competitor("mortise", 2, 1)), "--smoke", "--scenario", scenario);
        assertThat(code).isEqualTo(1);
        assertThat(err.toString())
                .startsWith("benchmark: fake " + scenario + ", mortise: mutual exclusion violated on lock \"" + scenario
                        + "\": ");
        assertThat(err.toString().lines()).hasSize(1);
    }

    @Test
    void competitorWithDecreasingTokensFailsTheRun() {
        int code = run(fake(FakeTestBed.competitor("mortise", 1, -1)), "--smoke", "--scenario", "one-thread");
        assertThat(code).isEqualTo(1);
        assertThat(err.toString())
                .contains("mutual exclusion violated on lock \"one-thread\": token -2 was granted after token -1");
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import io.mortise.lock.benchmark.backend.TestBeds;
import io.mortise.lock.benchmark.report.JsonReport;
import io.mortise.lock.benchmark.report.MachineDescription;
import io.mortise.lock.benchmark.scenario.RoundSize;
import io.mortise.lock.benchmark.scenario.Scenario;
import io.mortise.lock.benchmark.scenario.Scenarios;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The benchmark's command line: which scenarios on which backends. */
@Command(
        name = "benchmark",
        header = "Measures Mortise, a raw client and a peer side by side.",
        description = {
            "Starts each store by itself, on this machine. In each round all competitors have their turn, one after the"
                    + " other, in an order that changes from round to round. The table gives medians over the rounds,"
                    + " and as ratio Mortise's figure divided by that of the competitor in the row, with the least and"
                    + " the greatest of the single rounds. Whether locks exclude is checked all the while: if one does"
                    + " not, the run fails.",
            "What each scenario measures, and how to read it: docs/benchmarks.md."
        },
        mixinStandardHelpOptions = true,
        versionProvider = BenchmarkVersion.class,
        sortOptions = false,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:measured, whether or not the goals were reached",
            "1:a competitor let two in at once",
            "64:the command line is wrong",
            "70:an error inside the benchmark, or a competitor that failed",
            "74:the file of --json could not be written"
        })
final class BenchmarkCommand implements Callable<Integer> {
    private static final String ROUNDS = "5";
    private static final String SECONDS = "1";
    private static final String WARM_UP = "40";
    private static final String SMOKE_SECONDS = "0.1";

    /** What {@code --smoke} does, unless told how long. */
    static final RoundSize SMOKE = new RoundSize(Duration.ofMillis(100), true);

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = "--backend",
            paramLabel = "NAME",
            completionCandidates = OptionCandidates.OfBackends.class,
            description = "Only this one; can be repeated. One of ${COMPLETION-CANDIDATES}. Default: all.")
    private List<String> backendNames = List.of();

    @Option(
            names = "--scenario",
            paramLabel = "NAME",
            completionCandidates = OptionCandidates.OfScenarios.class,
            description = "Only this one; can be repeated. One of ${COMPLETION-CANDIDATES}. Default: all that the"
                    + " backend can be measured by.")
    private List<String> scenarioNames = List.of();

    @Option(names = "--rounds", paramLabel = "N", description = "Rounds that count, 1 to 100. Default: 5, smoke: 1.")
    private @Nullable String rounds;

    @Option(
            names = "--seconds",
            paramLabel = "S",
            description = "How long a competitor runs in one round, 0.01 to 60. Default: 1, smoke: 0.1. Some scenarios"
                    + " take as long as they take.")
    private @Nullable String seconds;

    @Option(
            names = "--warm-up",
            paramLabel = "S",
            description =
                    "How long each competitor warms up at most, 0 to 600 whole seconds: in rounds of a second, until"
                            + " its figures stand still. Default: 40, smoke: 0, which is none.")
    private @Nullable String warmUp;

    @Option(
            names = "--smoke",
            description =
                    "Only to see that all of it works: one short round, none to warm up. The figures mean nothing.")
    private boolean smoke;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the figures of all rounds there, too.")
    private @Nullable Path json;

    private final List<TestBeds.Startable> backends;

    BenchmarkCommand(List<TestBeds.Startable> backends) {
        this.backends = backends;
    }

    @Override
    public Integer call() throws Exception {
        CommandLineLimits limits = new CommandLineLimits(spec);
        int counted = limits.wholeNumber("--rounds", or(rounds, smoke ? "1" : ROUNDS), 1, 100);
        double length = limits.seconds("--seconds", or(seconds, smoke ? SMOKE_SECONDS : SECONDS), 0.01, 60);
        WarmUpRounds before =
                WarmUpRounds.upTo(limits.wholeNumber("--warm-up", or(warmUp, smoke ? "0" : WARM_UP), 0, 600));
        BenchmarkPlan plan = new BenchmarkPlan(chosenBackends(limits), chosenScenarios(limits));
        Path file = json;
        if (file != null) {
            limits.writable("--json", file);
        }

        MachineDescription here = MachineDescription.here(BenchmarkVersion.mortise());
        ConsoleReport output = new ConsoleReport(spec.commandLine().getOut());
        output.begin(here, length, before, counted);
        ScenarioRunner runner =
                new ScenarioRunner(new RoundSize(Duration.ofNanos(Math.round(length * 1e9)), smoke), before, counted);
        List<JsonReport.OfBackend> all = plan.run(runner, output);
        output.end(all);
        if (file != null) {
            Map<String, Object> settings = new TreeMap<>(
                    Map.of("rounds", counted, "warmUpSeconds", before.most(), "seconds", length, "smoke", smoke));
            Files.writeString(file, new JsonReport(here, settings, all).toJson() + "\n");
        }
        return BenchmarkExitCodes.OK;
    }

    private List<TestBeds.Startable> chosenBackends(CommandLineLimits limits) {
        List<String> known = backends.stream().map(TestBeds.Startable::name).toList();
        limits.known("--backend", backendNames, known);
        return backends.stream()
                .filter(backend -> backendNames.isEmpty() || backendNames.contains(backend.name()))
                .toList();
    }

    private List<Scenario> chosenScenarios(CommandLineLimits limits) {
        List<Scenario> all = Scenarios.all();
        limits.known(
                "--scenario", scenarioNames, all.stream().map(Scenario::name).toList());
        return all.stream()
                .filter(scenario -> scenarioNames.isEmpty() || scenarioNames.contains(scenario.name()))
                .toList();
    }

    private static String or(@Nullable String given, String otherwise) {
        return Objects.requireNonNullElse(given, otherwise);
    }
}

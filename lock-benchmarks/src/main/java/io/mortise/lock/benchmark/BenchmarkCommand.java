// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import io.mortise.lock.benchmark.backend.TestBed;
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

/** Implements {@code ./benchmark}, which measures the chosen scenarios on the chosen backends. */
@Command(
        name = "benchmark",
        header = "Measures Mortise side by side with a hand-written client and another lock library.",
        description = {
            "Starts the stores on this machine. In each round the competitors run one after the other, in an order that"
                    + " changes from round to round. The table shows the median over the rounds, and the ratio of"
                    + " Mortise's result to that of the competitor in the row, with the minimum and the maximum of the"
                    + " single rounds. Mutual exclusion is checked throughout: if two clients hold one lock at the same"
                    + " time, the run fails.",
            "docs/benchmarks.md explains what each scenario measures and how to read the results."
        },
        mixinStandardHelpOptions = true,
        versionProvider = BenchmarkVersion.class,
        sortOptions = false,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:all measurements were taken, whether or not the goals were reached",
            "1:a competitor granted one lock to two clients at the same time",
            "64:the command line is invalid",
            "70:an internal error, or a competitor failed",
            "74:the file given by --json could not be written"
        })
final class BenchmarkCommand implements Callable<Integer> {
    /** The values of options that are not given. */
    private record Defaults(String rounds, String seconds, String warmUp) {
        static final Defaults WARM = new Defaults("5", "1", "40");
        static final Defaults COLD = new Defaults("3", "10", "0");
        static final Defaults SMOKE = new Defaults("1", "0.1", "0");
        static final Defaults COLD_SMOKE = new Defaults("1", "1", "0");
    }

    /** The size of a round with {@code --smoke}, unless {@code --seconds} is given. */
    static final RoundSize SMOKE = new RoundSize(Duration.ofMillis(100), true);

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = "--backend",
            paramLabel = "NAME",
            completionCandidates = OptionCandidates.OfBackends.class,
            description = "Measure only this backend; can be repeated. One of ${COMPLETION-CANDIDATES}. Default: all.")
    private List<String> backendNames = List.of();

    @Option(
            names = "--scenario",
            paramLabel = "NAME",
            completionCandidates = OptionCandidates.OfScenarios.class,
            description = "Run only this scenario; can be repeated. One of ${COMPLETION-CANDIDATES}. Default: all that"
                    + " the backend supports.")
    private List<String> scenarioNames = List.of();

    @Option(
            names = "--rounds",
            paramLabel = "N",
            description = "Measured rounds, 1 to 100. Default: 5, with --cold 3, with --smoke 1.")
    private @Nullable String rounds;

    @Option(
            names = "--seconds",
            paramLabel = "S",
            description =
                    "How long a competitor runs in one round, 0.01 to 60 s. Default: 1, with --smoke 0.1. Ignored by"
                            + " scenarios with a fixed amount of work. With --cold 1 to 60 whole seconds. Default: 10,"
                            + " with --smoke 1.")
    private @Nullable String seconds;

    @Option(
            names = "--warm-up",
            paramLabel = "S",
            description =
                    "Maximum warm-up of each competitor, 0 to 600 whole seconds. Competitors warm up in rounds of one second"
                            + " until their results are steady. Default: 40, with --smoke 0 (no warm-up).")
    private @Nullable String warmUp;

    @Option(
            names = "--competitor",
            paramLabel = "NAME",
            description = "Compare Mortise only with this competitor; can be repeated. Default: all.")
    private List<String> competitorNames = List.of();

    @Option(
            names = "--cold",
            description = "Run each round in a new JVM without warm-up, from the opening of the clients on. Scenarios:"
                    + " one-thread, sixteen-locks, contended.")
    private boolean cold;

    @Option(
            names = "--smoke",
            description =
                    "Only check that everything works: one short round without warm-up. The results mean nothing.")
    private boolean smoke;

    @Option(names = "--json", paramLabel = "FILE", description = "Also write the results of all rounds to this file.")
    private @Nullable Path json;

    private final List<TestBeds.Startable> backends;

    BenchmarkCommand(List<TestBeds.Startable> backends) {
        this.backends = backends;
    }

    @Override
    public Integer call() throws Exception {
        OptionValueValidator limits = new OptionValueValidator(spec);
        Defaults defaults = defaults();
        int counted = limits.wholeNumber("--rounds", or(rounds, defaults.rounds), 1, 100);
        String length = or(seconds, defaults.seconds);
        double measured =
                cold ? limits.wholeNumber("--seconds", length, 1, 60) : limits.seconds("--seconds", length, 0.01, 60);
        WarmUpRounds before =
                WarmUpRounds.upTo(limits.wholeNumber("--warm-up", or(warmUp, defaults.warmUp), 0, cold ? 0 : 600));
        BenchmarkSuite plan = new BenchmarkSuite(chosenBackends(limits), chosenScenarios(limits));
        limits.known("--competitor", competitorNames, plan.competitors());
        Path file = json;
        if (file != null) {
            limits.writable("--json", file);
        }

        MachineDescription here = MachineDescription.here(BenchmarkVersion.mortise());
        ConsoleReport output = new ConsoleReport(spec.commandLine().getOut());
        output.begin(here, measured, before, counted);
        ScenarioRunner runner = new ScenarioRunner(
                new RoundSize(Duration.ofNanos(Math.round(measured * 1e9)), smoke),
                before,
                counted,
                name -> competitorNames.isEmpty() || name.equals(TestBed.MORTISE) || competitorNames.contains(name));
        List<JsonReport.OfBackend> all = plan.run(runner, output);
        output.end(all);
        if (file != null) {
            Map<String, Object> settings = new TreeMap<>(Map.of(
                    "rounds",
                    counted,
                    "warmUpSeconds",
                    before.maxRounds(),
                    "seconds",
                    measured,
                    "smoke",
                    smoke,
                    "cold",
                    cold));
            Files.writeString(file, new JsonReport(here, settings, all).toJson() + "\n");
        }
        return BenchmarkExitCodes.OK;
    }

    private Defaults defaults() {
        if (cold) {
            return smoke ? Defaults.COLD_SMOKE : Defaults.COLD;
        }
        return smoke ? Defaults.SMOKE : Defaults.WARM;
    }

    private List<TestBeds.Startable> chosenBackends(OptionValueValidator limits) {
        List<String> known = backends.stream().map(TestBeds.Startable::name).toList();
        limits.known("--backend", backendNames, known);
        return backends.stream()
                .filter(backend -> backendNames.isEmpty() || backendNames.contains(backend.name()))
                .toList();
    }

    private List<Scenario> chosenScenarios(OptionValueValidator limits) {
        List<Scenario> all = cold ? Scenarios.cold() : Scenarios.all();
        limits.known(
                "--scenario", scenarioNames, all.stream().map(Scenario::name).toList());
        return all.stream()
                .filter(scenario -> scenarioNames.isEmpty() || scenarioNames.contains(scenario.name()))
                .map(scenario -> cold ? new ColdScenario(scenario) : scenario)
                .toList();
    }

    private static String or(@Nullable String given, String otherwise) {
        return Objects.requireNonNullElse(given, otherwise);
    }
}

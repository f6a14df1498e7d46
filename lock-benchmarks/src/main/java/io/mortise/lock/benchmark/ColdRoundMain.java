// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import io.mortise.lock.benchmark.backend.Competitor;
import io.mortise.lock.benchmark.backend.TestBeds;
import io.mortise.lock.benchmark.scenario.ColdRound;
import io.mortise.lock.benchmark.scenario.ExclusionViolationException;
import io.mortise.lock.benchmark.scenario.RoundMeasurements;
import io.mortise.lock.benchmark.scenario.Scenario;
import io.mortise.lock.benchmark.scenario.Scenarios;
import io.mortise.lock.testkit.process.StdinWatchdog;
import java.io.PrintStream;
import java.util.List;
import tools.jackson.jr.ob.JSON;

/**
 * Main class of the JVMs that {@link ColdScenario} starts. It loads as little as possible before it measures, so it has no
 * command-line parser, and chooses the competitor without starting a store.
 */
final class ColdRoundMain {
    private ColdRoundMain() {}

    /** The command line. */
    record Arguments(String backend, String scenario, String competitor, String endpoint, int seconds) {
        static Arguments of(String[] args) {
            return new Arguments(args[0], args[1], args[2], args[3], Integer.parseInt(args[4]));
        }

        List<String> toList() {
            return List.of(backend, scenario, competitor, endpoint, String.valueOf(seconds));
        }
    }

    public static void main(String[] args) {
        StdinWatchdog.install();
        System.exit(run(TestBeds.all(), Arguments.of(args), System.out));
    }

    /** Runs one round, and prints its measurements or the message about a violation. Returns the exit code. */
    static int run(List<TestBeds.Startable> backends, Arguments args, PrintStream out) {
        Competitor competitor = backends.stream()
                .filter(backend -> backend.name().equals(args.backend()))
                .flatMap(backend -> backend.competitors().get().stream())
                .filter(each -> each.name().equals(args.competitor()))
                .findFirst()
                .orElseThrow();
        Scenario scenario = Scenarios.cold().stream()
                .filter(each -> each.name().equals(args.scenario()))
                .findFirst()
                .orElseThrow();
        try {
            RoundMeasurements measured = ColdRound.run(scenario, competitor, args.endpoint(), args.seconds());
            out.println(JSON.std.asString(measured));
            return BenchmarkExitCodes.OK;
        } catch (ExclusionViolationException e) {
            out.println(e.getMessage());
            return BenchmarkExitCodes.FAILED;
        } catch (Exception e) {
            e.printStackTrace();
            return BenchmarkExitCodes.SOFTWARE;
        }
    }
}

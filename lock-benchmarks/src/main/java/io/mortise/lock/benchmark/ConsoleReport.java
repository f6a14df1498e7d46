// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import io.mortise.lock.benchmark.backend.TestBed;
import io.mortise.lock.benchmark.report.BenchmarkTable;
import io.mortise.lock.benchmark.report.JsonReport;
import io.mortise.lock.benchmark.report.MachineDescription;
import io.mortise.lock.benchmark.report.PerformanceGoalResult;
import io.mortise.lock.benchmark.report.ScenarioResult;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/** Prints each scenario's results on the console as soon as the scenario ends. */
final class ConsoleReport implements BenchmarkSuite.Listener {
    private final PrintWriter out;
    private final List<ScenarioResult> run = new ArrayList<>();

    ConsoleReport(PrintWriter out) {
        this.out = out;
    }

    void begin(MachineDescription here, double seconds, WarmUpRounds warmUp, int rounds) {
        out.println(here);
        int maxSeconds = warmUp.maxRounds();
        String before = maxSeconds == 0 ? "none" : "until results are steady, at most " + maxSeconds + " s each";
        out.printf("Rounds of %s s: %d measured; warm-up: %s%n", seconds, rounds, before);
        out.flush();
    }

    @Override
    public void started(TestBed backend) {
        run.clear();
        out.println();
        out.println(backend.name() + ": " + backend.description());
        backend.competitors()
                .forEach(competitor -> out.printf("  %-8s %s%n", competitor.name(), competitor.description()));
        out.flush();
    }

    @Override
    public void done(ScenarioResult result, TestBed backend) {
        out.println();
        run.add(result);
        out.print(BenchmarkTable.of(result, PerformanceGoalResult.of(result, run, backend.goals())));
        out.flush();
    }

    void end(List<JsonReport.OfBackend> all) {
        List<PerformanceGoalResult> verdicts =
                all.stream().flatMap(backend -> backend.verdicts().stream()).toList();
        long reached = verdicts.stream().filter(PerformanceGoalResult::reached).count();
        out.println();
        out.println("Mutual exclusion held in every round. Goals reached: " + reached + " of " + verdicts.size() + ".");
        out.flush();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import io.mortise.lock.benchmark.backend.TestBed;
import io.mortise.lock.benchmark.report.BenchmarkTable;
import io.mortise.lock.benchmark.report.JsonReport;
import io.mortise.lock.benchmark.report.MachineDescription;
import io.mortise.lock.benchmark.report.PerformanceTargetResult;
import io.mortise.lock.benchmark.report.ScenarioResult;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/** Prints each result as soon as it is known. */
final class ConsoleReport implements BenchmarkPlan.Listener {
    private final PrintWriter out;
    private final List<ScenarioResult> run = new ArrayList<>();

    ConsoleReport(PrintWriter out) {
        this.out = out;
    }

    void begin(MachineDescription here, double seconds, WarmUpRounds warmUp, int rounds) {
        out.println(here);
        String before = warmUp.most() == 0 ? "none" : "until figures stand still, at most " + warmUp.most() + " s each";
        out.printf("Rounds of %s s: %d that count; warm-up: %s%n", seconds, rounds, before);
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
        out.print(BenchmarkTable.of(result, PerformanceTargetResult.of(result, run, backend.goals())));
        out.flush();
    }

    void end(List<JsonReport.OfBackend> all) {
        List<PerformanceTargetResult> verdicts =
                all.stream().flatMap(backend -> backend.verdicts().stream()).toList();
        long reached =
                verdicts.stream().filter(PerformanceTargetResult::reached).count();
        out.println();
        out.println("Exclusion held in every round. Goals reached: " + reached + " of " + verdicts.size() + ".");
        out.flush();
    }
}

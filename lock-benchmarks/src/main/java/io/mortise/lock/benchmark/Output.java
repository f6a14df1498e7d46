// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import io.mortise.lock.benchmark.backend.TestBed;
import io.mortise.lock.benchmark.report.Environment;
import io.mortise.lock.benchmark.report.Report;
import io.mortise.lock.benchmark.report.Result;
import io.mortise.lock.benchmark.report.Table;
import io.mortise.lock.benchmark.report.Verdict;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/** What is printed, each block as soon as it is known. */
final class Output implements Plan.Listener {
    private final PrintWriter out;
    private final List<Result> run = new ArrayList<>();

    Output(PrintWriter out) {
        this.out = out;
    }

    void begin(Environment here, double seconds, WarmUp warmUp, int rounds) {
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
    public void done(Result result, TestBed backend) {
        out.println();
        run.add(result);
        out.print(Table.of(result, Verdict.of(result, run, backend.goals())));
        out.flush();
    }

    void end(List<Report.OfBackend> all) {
        List<Verdict> verdicts =
                all.stream().flatMap(backend -> backend.verdicts().stream()).toList();
        long reached = verdicts.stream().filter(Verdict::reached).count();
        out.println();
        out.println("Exclusion held in every round. Goals reached: " + reached + " of " + verdicts.size() + ".");
        out.flush();
    }
}

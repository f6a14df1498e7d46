// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import io.mortise.lock.benchmark.backend.TestBed;
import io.mortise.lock.benchmark.backend.TestBeds;
import io.mortise.lock.benchmark.report.Report;
import io.mortise.lock.benchmark.report.Result;
import io.mortise.lock.benchmark.scenario.Scenario;
import java.util.ArrayList;
import java.util.List;

/** What is to be run: each of the scenarios on each of the backends that it runs on. */
record Plan(List<TestBeds.Startable> backends, List<Scenario> scenarios) {
    /** What a reader wants to see before all is done. */
    interface Listener {
        void started(TestBed backend);

        void done(Result result, TestBed backend);
    }

    /** One store at a time is up. */
    List<Report.OfBackend> run(Runner runner, Listener listener) throws Exception {
        List<Report.OfBackend> all = new ArrayList<>();
        for (TestBeds.Startable startable : backends) {
            all.add(run(startable, runner, listener));
        }
        return all;
    }

    /** Each scenario has a store of its own, which no other has filled: its figures are the same whatever ran before it. */
    private Report.OfBackend run(TestBeds.Startable startable, Runner runner, Listener listener) throws Exception {
        List<Result> results = new ArrayList<>();
        List<Scenario> suitable;
        Report.OfBackend report;
        try (TestBed first = startable.start().get()) {
            listener.started(first);
            suitable = scenarios.stream()
                    .filter(scenario -> scenario.runsOn(first))
                    .toList();
            report = Report.OfBackend.of(first, results);
        }
        for (Scenario scenario : suitable) {
            try (TestBed backend = startable.start().get()) {
                Result result = runner.run(backend, scenario);
                results.add(result);
                listener.done(result, backend);
                report = Report.OfBackend.of(backend, results);
            }
        }
        return report;
    }
}

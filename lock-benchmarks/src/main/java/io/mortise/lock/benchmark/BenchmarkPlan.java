// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import io.mortise.lock.benchmark.backend.TestBed;
import io.mortise.lock.benchmark.backend.TestBeds;
import io.mortise.lock.benchmark.report.JsonReport;
import io.mortise.lock.benchmark.report.ScenarioResult;
import io.mortise.lock.benchmark.scenario.Scenario;
import java.util.ArrayList;
import java.util.List;

/** The scenarios to run, on each of their backends. */
record BenchmarkPlan(List<TestBeds.Startable> backends, List<Scenario> scenarios) {
    /** What a reader wants to see before all is done. */
    interface Listener {
        void started(TestBed backend);

        void done(ScenarioResult result, TestBed backend);
    }

    /** One store at a time is up. */
    List<JsonReport.OfBackend> run(ScenarioRunner runner, Listener listener) throws Exception {
        List<JsonReport.OfBackend> all = new ArrayList<>();
        for (TestBeds.Startable startable : backends) {
            all.add(run(startable, runner, listener));
        }
        return all;
    }

    /** Each scenario has a store of its own, which no other has filled: its figures are the same whatever ran before it. */
    private JsonReport.OfBackend run(TestBeds.Startable startable, ScenarioRunner runner, Listener listener)
            throws Exception {
        List<ScenarioResult> results = new ArrayList<>();
        List<Scenario> suitable;
        JsonReport.OfBackend report;
        try (TestBed first = startable.start().get()) {
            listener.started(first);
            suitable = scenarios.stream()
                    .filter(scenario -> scenario.runsOn(first))
                    .toList();
            report = JsonReport.OfBackend.of(first, results);
        }
        for (Scenario scenario : suitable) {
            try (TestBed backend = startable.start().get()) {
                ScenarioResult result = runner.run(backend, scenario);
                results.add(result);
                listener.done(result, backend);
                report = JsonReport.OfBackend.of(backend, results);
            }
        }
        return report;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import io.mortise.lock.benchmark.backend.Competitor;
import io.mortise.lock.benchmark.backend.TestBed;
import io.mortise.lock.benchmark.backend.TestBeds;
import io.mortise.lock.benchmark.report.JsonReport;
import io.mortise.lock.benchmark.report.ScenarioResult;
import io.mortise.lock.benchmark.scenario.Scenario;
import java.util.ArrayList;
import java.util.List;

/** Runs the chosen scenarios on each of the chosen backends. */
record BenchmarkSuite(List<TestBeds.Startable> backends, List<Scenario> scenarios) {
    /** Receives the results while the benchmark is still running. */
    interface Listener {
        void started(TestBed backend);

        void done(ScenarioResult result, TestBed backend);
    }

    /** Returns the names of all competitors on these backends. */
    List<String> competitors() {
        return backends.stream()
                .flatMap(backend -> backend.competitors().get().stream())
                .map(Competitor::name)
                .distinct()
                .toList();
    }

    /** Runs all scenarios on all backends, with only one store running at a time. */
    List<JsonReport.OfBackend> run(ScenarioRunner runner, Listener listener) throws Exception {
        List<JsonReport.OfBackend> all = new ArrayList<>();
        for (TestBeds.Startable startable : backends) {
            all.add(run(startable, runner, listener));
        }
        return all;
    }

    /** Starts an empty store for each scenario, so that results do not depend on the scenarios that ran before. */
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

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import io.mortise.lock.benchmark.backend.Backend;
import io.mortise.lock.benchmark.backend.Backends;
import io.mortise.lock.benchmark.report.Report;
import io.mortise.lock.benchmark.report.Result;
import io.mortise.lock.benchmark.scenario.Scenario;
import java.util.ArrayList;
import java.util.List;

/** What is to be run: each of the scenarios on each of the backends that it runs on. */
record Plan(List<Backends.Startable> backends, List<Scenario> scenarios) {
    /** What a reader wants to see before all is done. */
    interface Listener {
        void started(Backend backend);

        void done(Result result, Backend backend);
    }

    /** One backend at a time is up. */
    List<Report.OfBackend> run(Runner runner, Listener listener) throws Exception {
        List<Report.OfBackend> all = new ArrayList<>();
        for (Backends.Startable startable : backends) {
            try (Backend backend = startable.start().get()) {
                listener.started(backend);
                List<Result> results = new ArrayList<>();
                for (Scenario scenario : scenarios) {
                    if (scenario.runsOn(backend)) {
                        Result result = runner.run(backend, scenario);
                        results.add(result);
                        listener.done(result, backend);
                    }
                }
                all.add(Report.OfBackend.of(backend, results));
            }
        }
        return all;
    }
}

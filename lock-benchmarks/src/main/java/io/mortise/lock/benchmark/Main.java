// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import io.mortise.lock.benchmark.backend.Backend;
import io.mortise.lock.benchmark.backend.Backends;
import io.mortise.lock.benchmark.report.Result;
import io.mortise.lock.benchmark.report.Table;
import io.mortise.lock.benchmark.scenario.Effort;
import io.mortise.lock.benchmark.scenario.Scenario;
import io.mortise.lock.benchmark.scenario.Scenarios;
import java.time.Duration;

/** x. */
public final class Main {
    private Main() {}

    public static void main(String[] args) throws Exception {
        System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "error");
        Runner runner = new Runner(new Effort(Duration.ofSeconds(1), false), 1, 5);
        try (Backend backend = Backends.all().get(1).start().get()) {
            for (Scenario scenario : Scenarios.all()) {
                Result result = runner.run(backend, scenario);
                System.out.println(Table.of(result, backend.goals()));
            }
        }
        System.exit(0);
    }
}

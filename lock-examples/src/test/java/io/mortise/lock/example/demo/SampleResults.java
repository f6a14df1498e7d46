// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import java.time.Duration;

/** Results to render and to judge. */
final class SampleResults {
    static final RunResult WITHOUT = new RunResult(100, 60, 100, 0, 0, 51, 0);
    static final RunResult WITH = new RunResult(100, 0, 100, 1, 0, 70, 0);
    static final FaultDrill.Kill KILL = new FaultDrill.Kill(Duration.ofMillis(4_140), 35, 36);
    static final FaultDrill.Frozen FROZEN = new FaultDrill.Frozen(Duration.ofMillis(3_960), 70, 71, true, false);

    private SampleResults() {}

    static DemoResult result(RunResult without, RunResult with, FaultDrill.Kill kill, FaultDrill.Frozen frozen) {
        return new DemoResult("zookeeper://h:2181", 4, 100, without, with, kill, frozen, Duration.ofSeconds(14));
    }

    static DemoResult good() {
        return result(WITHOUT, WITH, KILL, FROZEN);
    }
}

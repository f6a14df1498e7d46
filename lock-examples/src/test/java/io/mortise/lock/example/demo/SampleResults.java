// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import java.time.Duration;

/** Sample results of the demo. */
final class SampleResults {
    static final DemoRunResult WITHOUT = new DemoRunResult(100, 60, 100, 0, 0, 51, 0);
    static final DemoRunResult WITH = new DemoRunResult(100, 0, 100, 1, 0, 70, 0);
    static final FaultDrillResult.Kill KILL = new FaultDrillResult.Kill(Duration.ofMillis(4_140), 35, 36);
    static final FaultDrillResult.Frozen FROZEN =
            new FaultDrillResult.Frozen(Duration.ofMillis(3_960), 70, 71, true, false);

    private SampleResults() {}

    static OverallDemoResult result(
            DemoRunResult without, DemoRunResult with, FaultDrillResult.Kill kill, FaultDrillResult.Frozen frozen) {
        return new OverallDemoResult("zookeeper://h:2181", 4, 100, without, with, kill, frozen, Duration.ofSeconds(14));
    }

    static OverallDemoResult good() {
        return result(WITHOUT, WITH, KILL, FROZEN);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.demo;

import java.time.Duration;

/** Results to render and to judge. */
final class Samples {
    static final Run WITHOUT = new Run(100, 100, 0, new Stock(60, 0, 100, 0, 51, 0, "w1"));
    static final Run WITH = new Run(100, 100, 0, new Stock(0, 130, 100, 1, 70, 0, "w1"));
    static final Drill.Kill KILL = new Drill.Kill(Duration.ofMillis(4_140), 35, 36);
    static final Drill.Frozen FROZEN = new Drill.Frozen(Duration.ofMillis(3_960), 70, 71, true, false);

    private Samples() {}

    static Result result(Run without, Run with, Drill.Kill kill, Drill.Frozen frozen) {
        return new Result("zookeeper://h:2181", 4, 100, without, with, kill, frozen, Duration.ofSeconds(14));
    }

    static Result good() {
        return result(WITHOUT, WITH, KILL, FROZEN);
    }
}

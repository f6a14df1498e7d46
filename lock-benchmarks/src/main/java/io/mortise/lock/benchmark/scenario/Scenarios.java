// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import java.time.Duration;
import java.util.List;

/** All scenarios, in the order of the table. */
public final class Scenarios {
    private static final Duration NEAR = Duration.ofMillis(5);
    private static final Duration FAR = Duration.ofMillis(10);

    private Scenarios() {}

    /** Names are unique. */
    public static List<Scenario> all() {
        return List.of(
                new OneThreadScenario("one-thread", Duration.ZERO),
                new SixteenLocksScenario(),
                new ContendedScenario("contended", Duration.ZERO),
                new CrowdScenario(),
                new HeldLocksScenario(),
                new OneThreadScenario("one-thread-5ms", NEAR),
                new ContendedScenario("contended-5ms", NEAR),
                new RoundTripsScenario(FAR));
    }
}

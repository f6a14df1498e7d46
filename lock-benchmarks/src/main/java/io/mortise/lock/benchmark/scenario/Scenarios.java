// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import java.time.Duration;
import java.util.List;

/** Lists all benchmark scenarios, in the order in which they run and appear in the report. */
public final class Scenarios {
    private static final Duration NEAR = Duration.ofMillis(5);
    private static final Duration FAR = Duration.ofMillis(10);

    private Scenarios() {}

    /** Returns all scenarios; their names are unique. */
    public static List<Scenario> all() {
        return List.of(
                new SingleThreadScenario("one-thread", Duration.ZERO),
                new ParallelLocksScenario(),
                new ContendedScenario("contended", Duration.ZERO),
                new ManyWaitersScenario(),
                new HeldLocksScenario(),
                new SingleThreadScenario("one-thread-5ms", NEAR),
                new ContendedScenario("contended-5ms", NEAR),
                new SlowLinkRoundTripsScenario(FAR));
    }

    /** Returns the scenarios that can also be measured from the start of a JVM, with {@code --cold}. */
    public static List<Scenario> cold() {
        return all().stream()
                .filter(scenario ->
                        scenario instanceof LoopScenario && scenario.roundTrip().isZero())
                .toList();
    }
}

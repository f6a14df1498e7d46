// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import io.mortise.lock.benchmark.backend.Competitor;
import io.mortise.lock.benchmark.backend.TestBed;
import java.time.Duration;
import java.util.Optional;

/**
 * A benchmark scenario, which defines the work of each competitor and the measurements. To add a scenario, implement this
 * interface and add the class to {@link Scenarios}.
 */
public interface Scenario {
    /** Returns the name for {@code --scenario}. */
    String name();

    /** Returns a description in one line, for the reader of the table. */
    String description();

    /** Returns the latency that a proxy adds to each round trip; zero for a direct connection. */
    default Duration roundTrip() {
        return Duration.ZERO;
    }

    /** Returns whether the scenario can run on a backend. */
    default boolean runsOn(TestBed backend) {
        return backend.isRemote() || roundTrip().isZero();
    }

    /** Returns whether the results are meaningful for a competitor. */
    default boolean isMeaningfulFor(Competitor competitor) {
        return true;
    }

    /**
     * Returns the name of the measurement that changes until the JIT compiler has finished; competitors warm up until it is
     * steady. Empty if the scenario measures numbers of requests, threads or round trips, which are the same in a cold JVM, so
     * that one warm-up round is enough.
     */
    default Optional<String> warmUpMeasure() {
        return Optional.empty();
    }

    /** Measures one competitor for one round. All rounds of all competitors have measurements of the same names. */
    RoundMeasurements run(CompetitorRoundRunner round) throws Exception;
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import io.mortise.lock.benchmark.backend.Competitor;
import io.mortise.lock.benchmark.backend.TestBed;
import java.time.Duration;
import java.util.Optional;

/**
 * One benchmark: what each competitor does, and what is measured. A new scenario is one class that implements this, and
 * a line in {@link Scenarios}.
 */
public interface Scenario {
    /** As {@code --scenario} takes it. */
    String name();

    /** One line for the reader of the table. */
    String description();

    /** The round trip that the connection is stretched to; zero: not delayed. */
    default Duration roundTrip() {
        return Duration.ZERO;
    }

    /** Whether it can be measured there. */
    default boolean runsOn(TestBed backend) {
        return backend.isRemote() || roundTrip().isZero();
    }

    /** Whether it says anything of that competitor. */
    default boolean suits(Competitor competitor) {
        return true;
    }

    /**
     * The figure that the JIT compiler moves until it is done: competitors warm up until it is steady. Empty: what counts
     * here is a number of requests, threads or round trips, which is the same in a cold JVM, so one round warms up.
     */
    default Optional<String> warmedUpBy() {
        return Optional.empty();
    }

    /** Measures one competitor for one round. Each round of each competitor gives figures of the same names. */
    RoundMeasurements run(CompetitorRound trial) throws Exception;
}

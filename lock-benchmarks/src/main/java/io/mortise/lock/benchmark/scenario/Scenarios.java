// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import java.time.Duration;
import java.util.List;

/** All that can be measured, in the order of the table. */
public final class Scenarios {
    private static final Duration NEAR = Duration.ofMillis(5);
    private static final Duration FAR = Duration.ofMillis(10);

    private Scenarios() {}

    /** Names are unique. */
    public static List<Scenario> all() {
        return List.of(
                new OneThread("one-thread", Duration.ZERO),
                new SixteenLocks(),
                new Contended("contended", Duration.ZERO),
                new Crowd(),
                new HeldLocks(),
                new OneThread("one-thread-5ms", NEAR),
                new Contended("contended-5ms", NEAR),
                new RoundTrips(FAR));
    }
}

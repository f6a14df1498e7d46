// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import java.time.Duration;
import java.util.List;

/** All that can be measured, in the order of the table. */
public final class Scenarios {
    private static final Duration NEAR = Duration.ofMillis(5);

    private Scenarios() {}

    public static List<Scenario> all() {
        return List.of(
                new OneThread("one-thread", Duration.ZERO),
                new Contended("contended", Duration.ZERO),
                new OneThread("one-thread-5ms", NEAR),
                new Contended("contended-5ms", NEAR));
    }
}

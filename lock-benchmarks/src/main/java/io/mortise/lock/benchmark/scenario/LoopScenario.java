// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import java.util.List;

/** A scenario in which all threads acquire and release locks all the time, so that it can also be run in a new JVM. */
interface LoopScenario extends Scenario {
    /** Returns whether only hand-offs count, and not all cycles. */
    default boolean countsHandOffs() {
        return false;
    }

    /** Opens the sessions of a round and returns its loops, one for each thread; releases are awaited. */
    List<AcquireLoop> loops(CheckedSessions sessions) throws Exception;
}

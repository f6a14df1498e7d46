// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

/** Receives events, and provides the clock for them. Thread-safe. */
public interface EventRecorder {
    /** Nanoseconds, monotonic, from an origin of its own. */
    long now();

    /** Keeps the event. */
    void record(HistoryEvent event);

    /** What began at {@code start} by {@link #now()} and has ended by now. */
    default UncertainInstant since(long start) {
        return new UncertainInstant(start, now());
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

/** Records lock events during a test, and supplies the clock that timestamps them. Thread-safe. */
public interface HistoryRecorder {
    /** Returns the time of the recorder's monotonic clock, in nanoseconds since an arbitrary origin. */
    long now();

    /** Records the event. */
    void record(HistoryEvent event);

    /** Returns the period from {@code start}, a value of {@link #now()}, until now. */
    default UncertainInstant since(long start) {
        return new UncertainInstant(start, now());
    }
}

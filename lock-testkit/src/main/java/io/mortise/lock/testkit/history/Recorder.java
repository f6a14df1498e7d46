// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

/** Where events go, and the clock that they are timed by. Thread-safe. */
public interface Recorder {
    /** Nanoseconds, monotonic, from an origin of its own. */
    long now();

    /** Keeps the event. */
    void record(Event event);

    /** What began at {@code start} by {@link #now()} and has ended by now. */
    default Span since(long start) {
        return new Span(start, now());
    }
}

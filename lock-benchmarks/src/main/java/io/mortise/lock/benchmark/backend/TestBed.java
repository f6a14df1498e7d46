// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * A running store, its counters, and the competitors on it. A new backend is one class that implements this, and a line in
 * {@link TestBeds}. Closing it stops the store.
 */
public interface TestBed extends AutoCloseable {
    /** The competitor that ratios and goals are about. */
    String MORTISE = "mortise";

    /** As {@code --backend} takes it. */
    String name();

    /** The store and its version, and where it runs. */
    String description();

    /** {@value #MORTISE} first. */
    List<Competitor> competitors();

    /** Where competitors connect: {@code host:port,…} if {@link #isRemote()}, else whatever they understand. */
    String endpoint();

    /** Whether there is a connection, which can be delayed and counted on. */
    boolean isRemote();

    /** A connection on which to measure round trips; only if {@link #isRemote()}. */
    WriteRoundTripProbe roundTrip(String endpoint) throws Exception;

    /** All requests of all clients so far by kind, as the server counts them; empty if it does not. */
    Map<String, Long> requests();

    /** The kinds of request that keep a connection or a lease alive. They come with time, not with use. */
    List<String> keepAlive();

    /** How often Mortise renews what it holds here. */
    Duration renewal();

    /** What Mortise is to reach here. */
    List<PerformanceTarget> goals();

    @Override
    void close();
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * A running store with its request counters and the lock implementations that are benchmarked on it. Closing the test bed stops
 * the store. To add a backend, implement this interface and add the class to {@link TestBeds}.
 */
public interface TestBed extends AutoCloseable {
    /** Name of the competitor that is compared with the others and that the goals are about. */
    String MORTISE = "mortise";

    /** Returns the name for {@code --backend}. */
    String name();

    /** Returns a description of the store: its version and where it runs. */
    String description();

    /** Returns the competitors, {@value #MORTISE} first. */
    List<Competitor> competitors();

    /** Returns the store's address: {@code host:port,…} if {@link #isRemote()}, else a name for its competitors. */
    String endpoint();

    /** Returns whether clients use network connections, which can be delayed and whose requests can be counted. */
    boolean isRemote();

    /** Opens a connection for measuring round trips; only if {@link #isRemote()}. */
    WriteRoundTripProbe roundTrip(String endpoint) throws Exception;

    /** Returns the number of requests of all clients so far by kind, as the server counts them; empty if it does not count. */
    Map<String, Long> requests();

    /** Returns the kinds of requests that keep a connection or a lease alive. Their number depends on time, not on use. */
    List<String> keepAlive();

    /** Returns the interval at which Mortise renews its leases on this store. */
    Duration renewal();

    /** Returns Mortise's performance goals on this store. */
    List<PerformanceGoal> goals();

    @Override
    void close();
}

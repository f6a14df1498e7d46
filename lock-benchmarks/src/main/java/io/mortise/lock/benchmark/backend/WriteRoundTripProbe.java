// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

/**
 * Performs the store's cheapest acknowledged write, whose duration is the baseline for round trips. A write rather than a read,
 * because the steps of a lock are writes, which take longer on a store that logs to disk.
 */
public interface WriteRoundTripProbe extends AutoCloseable {
    /** Sends one write and waits for its reply. */
    void writeOnce() throws Exception;

    @Override
    void close() throws Exception;
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

/**
 * Measures the store's cheapest acknowledged write. A write, because the steps of a lock are writes, and a store that logs to
 * disk takes longer over them.
 */
public interface WriteRoundTripProbe extends AutoCloseable {
    /** One write and its answer. */
    void once() throws Exception;

    @Override
    void close() throws Exception;
}

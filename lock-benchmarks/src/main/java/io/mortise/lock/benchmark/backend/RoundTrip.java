// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

/**
 * The store's cheapest acknowledged write, on a connection of its own: what a round trip costs here and now. A write,
 * because the steps of a lock are writes, and a store that logs to disk takes longer over them.
 */
public interface RoundTrip extends AutoCloseable {
    /** One write and its answer. */
    void once() throws Exception;

    @Override
    void close() throws Exception;
}

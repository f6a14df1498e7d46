// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

/** The store's cheapest answer, on a connection of its own: what a round trip costs here and now. */
public interface RoundTrip extends AutoCloseable {
    /** One request and its answer. */
    void once() throws Exception;

    @Override
    void close() throws Exception;
}

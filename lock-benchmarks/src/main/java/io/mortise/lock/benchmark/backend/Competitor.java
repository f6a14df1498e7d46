// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

/** A lock implementation on a particular store, which the benchmarks compare with others. */
public interface Competitor {
    /** Returns the short name in the result table, such as {@code curator}. */
    String name();

    /** Returns a description with the version, for the reader of a report. */
    String description();

    /** Returns whether a client that finds the lock taken polls instead of waiting in a queue. */
    default boolean polls() {
        return false;
    }

    /**
     * Opens a session with its own client, as a separate process would.
     *
     * @param endpoint the store's address, see {@link TestBed#endpoint()}
     */
    CompetitorSession open(String endpoint) throws Exception;
}

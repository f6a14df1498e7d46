// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

/** One way to lock on a store. A raw client or a peer is one class that implements this. */
public interface Competitor {
    /** A short word for the table, such as {@code curator}. */
    String name();

    /** What it is and in which version, for the reader of a report. */
    String description();

    /** Whether one that finds the lock taken asks again and again, instead of standing in the queue. */
    default boolean polls() {
        return false;
    }

    /** Connects as a process of its own. */
    CompetitorSession open(String endpoint) throws Exception;
}

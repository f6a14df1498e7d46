// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

/** A connected client of a benchmark competitor, shared by all threads of one simulated process. */
public interface CompetitorSession extends AutoCloseable {
    /** Acquires a lock, waiting until it is granted. */
    HeldGrant acquire(String lock) throws Exception;

    /** Closes the client. The caller has released all locks before. */
    @Override
    void close() throws Exception;
}

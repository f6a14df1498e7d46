// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

/** One process of a competitor: one client, used by all its threads. */
public interface CompetitorSession extends AutoCloseable {
    /** Waits until the lock is granted. */
    HeldGrant acquire(String lock) throws Exception;

    /** Closes the connection. All that was acquired has been released before. */
    @Override
    void close() throws Exception;
}

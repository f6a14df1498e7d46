// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

/** What one process has: one client with one connection, used by all threads of that process. */
public interface Session extends AutoCloseable {
    /** Waits until the lock is granted. */
    Held acquire(String lock) throws Exception;

    /** Closes the connection. All that was acquired has been released before. */
    @Override
    void close() throws Exception;
}

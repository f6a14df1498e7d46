// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

import java.util.OptionalLong;

/**
 * A lock that a benchmarked client currently holds. It is released once, by the thread that acquired it, since some libraries
 * require that.
 */
public interface HeldGrant {
    /** Returns the fencing token, which must increase with each grant of a lock; empty if the competitor has no tokens. */
    OptionalLong token();

    /** Releases the lock and waits for the store's reply. */
    void release() throws Exception;

    /** Releases the lock without waiting for the reply. A competitor without an asynchronous release waits. */
    void releaseAsync() throws Exception;
}

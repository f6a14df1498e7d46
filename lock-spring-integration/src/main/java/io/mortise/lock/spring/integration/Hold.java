// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.integration;

import io.mortise.lock.LeaseLock;
import java.time.Duration;
import java.util.Optional;

/**
 * A lock that a thread holds.
 *
 * @param lock the lock, which counts the holds of the thread
 * @param timeToLive the maximum hold of its lease; empty if there is none
 */
record Hold(LeaseLock lock, Optional<Duration> timeToLive) {
    /** A call that acquires a lock. */
    @FunctionalInterface
    interface Call<X extends Exception> {
        /** Returns whether the thread has one more hold. */
        boolean on(LeaseLock lock) throws X;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import io.mortise.lock.spi.LockName;

/**
 * Thrown when the calling thread was interrupted while it waited for a lock, so the method or body did not run. The request is
 * withdrawn (S10), and the interrupt flag is set again.
 */
public final class LockInterruptedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param lockName the name of the lock
     * @param cause the interrupt
     */
    public LockInterruptedException(String lockName, InterruptedException cause) {
        super("interrupted while waiting for lock \"" + LockName.shown(lockName) + "\"", cause);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import io.mortise.lock.spi.LockName;
import java.time.Duration;
import java.util.Objects;

/**
 * Thrown when another owner held the lock until the end of the wait, so the method or body did not run. An outage of the store is
 * never reported by this exception (S15).
 */
public final class LockBusyException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String lockName;
    private final Duration maxWait;

    /**
     * Creates the exception.
     *
     * @param lockName the name of the lock
     * @param maxWait for how long the caller waited
     */
    public LockBusyException(String lockName, Duration maxWait) {
        super("lock \"" + LockName.shown(lockName) + "\" is busy, waited "
                + (maxWait.isZero() ? "for one attempt" : maxWait.toString()));
        this.lockName = lockName;
        this.maxWait = Objects.requireNonNull(maxWait, "maxWait");
    }

    /** Returns the name of the lock. */
    public String lockName() {
        return lockName;
    }

    /** Returns the longest time to wait; zero for one attempt. */
    public Duration maxWait() {
        return maxWait;
    }
}

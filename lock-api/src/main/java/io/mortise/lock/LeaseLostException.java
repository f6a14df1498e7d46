// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import io.mortise.lock.internal.TextEscaper;
import java.util.Objects;

/**
 * Thrown when a lease was lost, so work done under the lease may have overlapped with another holder's. {@link #reason()}
 * states the cause.
 */
public final class LeaseLostException extends LockException {
    private static final long serialVersionUID = 1L;

    private final String lockName;
    private final LossReason reason;

    /**
     * Creates the exception.
     *
     * @param lockName the name of the lock
     * @param reason why its lease was lost
     */
    public LeaseLostException(String lockName, LossReason reason) {
        super("lock \"" + TextEscaper.shown(lockName) + "\" was lost: " + reason, null);
        this.lockName = lockName;
        this.reason = Objects.requireNonNull(reason, "reason");
    }

    /** Returns the name of the lock, as the application passed it to the client. */
    public String lockName() {
        return lockName;
    }

    /** Returns why the lease was lost. */
    public LossReason reason() {
        return reason;
    }
}

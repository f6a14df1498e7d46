// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import io.mortise.lock.internal.TextEscaper;
import java.util.Objects;

/** Thrown when the lease was lost: work done under it may have overlapped with another holder's. {@link #reason()} says why. */
public final class LeaseLostException extends LockException {
    private static final long serialVersionUID = 1L;

    private final String lockName;
    private final LossReason reason;

    public LeaseLostException(String lockName, LossReason reason) {
        super("lock \"" + TextEscaper.shown(lockName) + "\" was lost: " + reason, null);
        this.lockName = lockName;
        this.reason = Objects.requireNonNull(reason, "reason");
    }

    /** The lock's name as the application gave it. */
    public String lockName() {
        return lockName;
    }

    /** Why. */
    public LossReason reason() {
        return reason;
    }
}

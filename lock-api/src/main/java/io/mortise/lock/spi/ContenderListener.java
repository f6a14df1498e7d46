// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import io.mortise.lock.LossReason;

/**
 * Callback by which a backend notifies the core about events of one contender. The backend may call it from any thread; all
 * methods return immediately.
 */
public interface ContenderListener {
    /** Tells the core to call {@link Contender#attempt()} again now. This is a hint: it may be spurious, and it may be lost. */
    void wake();

    /**
     * Reports that the grant of this contender, and no other, is lost. The backend may report a loss before the core has
     * received the grant.
     */
    void lost(LossReason reason);

    /**
     * Returns whether a caller still waits for the grant of this contender.
     *
     * <p>The value may change from true to false at any moment, and never back. A backend may use it to avoid needless
     * requests. The core withdraws the contender in any case, but only after its last attempt has completed. Default: true.
     */
    default boolean isStillWaiting() {
        return true;
    }
}

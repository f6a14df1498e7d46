// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import io.mortise.lock.LossReason;

/**
 * Callback through which a backend notifies the core about one contender: ask again, or the grant is lost. Callable from any
 * thread; returns at once.
 */
public interface ContenderListener {
    /** A hint: ask again now. May be spurious, and may go missing. */
    void wake();

    /** This grant alone is lost; may come before its Granted is collected. */
    void lost(LossReason reason);

    /**
     * A hint: false once nobody waits for the contender's grant any more. May change at any moment from true to false, and never
     * back, so a backend may save the work of asking for such a grant. The contender is withdrawn in any case, though not before
     * its last attempt has been answered. Default: true.
     */
    default boolean isWanted() {
        return true;
    }
}

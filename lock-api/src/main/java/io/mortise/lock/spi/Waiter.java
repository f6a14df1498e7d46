// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import io.mortise.lock.LossReason;

/** How a backend reaches the core about one ticket. Callable from any thread; returns at once. */
public interface Waiter {
    /** A hint: ask again now. May be spurious, and may go missing. */
    void wake();

    /** This grant alone is gone; may come before its Granted is collected. */
    void lost(LossReason reason);
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.lease;

import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Runs an {@link io.mortise.lock.Lease#onExpiring} callback when the remaining time of the lease falls to a threshold, at
 * most once; each renewal postpones it.
 */
public final class ExpiryWarningCallback {
    private final HeldLease lease;
    private final LockClock clock;
    private final Duration before;
    private final Runnable callback;
    private volatile LockClock.@Nullable Timer timer;

    /** @param callback submits the code of the application to the callback executor */
    ExpiryWarningCallback(HeldLease lease, LockClock clock, Duration before, Runnable callback) {
        this.lease = lease;
        this.clock = clock;
        this.before = before;
        this.callback = callback;
    }

    /** Runs the callback, or checks again later, or does nothing because the lease has ended. So checks never overlap. */
    void check() {
        Duration left = lease.remaining();
        if (left.compareTo(before) > 0) {
            timer = clock.schedule(left.minus(before), this::check);
            if (lease.hasEnded()) { // the lease ended concurrently, and may not have seen this timer
                cancel();
            }
            return;
        }
        lease.forget(this);
        if (!left.isZero()) { // otherwise the lease has ended, of which lost() notifies the application
            callback.run();
        }
    }

    void cancel() {
        LockClock.Timer set = timer;
        if (set != null) {
            set.cancel();
        }
    }
}

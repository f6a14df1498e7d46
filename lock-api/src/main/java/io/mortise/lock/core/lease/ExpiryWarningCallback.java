// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.lease;

import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Runs a {@link io.mortise.lock.Lease#onExpiring} callback once, when the deadline is near enough; renewals postpone it. */
public final class ExpiryWarningCallback {
    private final HeldLease lease;
    private final LockClock clock;
    private final Duration before;
    private final AtomicReference<@Nullable Runnable> callback;
    private volatile LockClock.@Nullable Timer timer;

    /** @param callback hands the user's code to the callback executor */
    ExpiryWarningCallback(HeldLease lease, LockClock clock, Duration before, Runnable callback) {
        this.lease = lease;
        this.clock = clock;
        this.before = before;
        this.callback = new AtomicReference<>(callback);
    }

    void check() {
        Duration left = lease.remaining();
        if (left.isZero()) {
            cancel(); // the lease has ended: the notice of loss says so
        } else if (left.compareTo(before) > 0) {
            timer = clock.schedule(left.minus(before), this::check);
            if (lease.hasEnded()) { // ended before the timer could be seen
                cancel();
            }
        } else {
            Runnable due = callback.getAndSet(null);
            if (due != null) {
                lease.forget(this);
                due.run();
            }
        }
    }

    void cancel() {
        callback.set(null);
        LockClock.Timer set = timer;
        if (set != null) {
            set.cancel();
        }
    }
}

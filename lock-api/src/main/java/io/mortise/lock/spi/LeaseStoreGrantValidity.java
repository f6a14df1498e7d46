// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.spi.LeaseStore.Grant;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The validity of one grant in a {@link LeaseStore}, and the renewals that are under way for it. Thread-safe. */
final class LeaseStoreGrantValidity extends GrantValidity {
    private static final int RENEWALS_PER_LEASE = 3;

    private final LockClock clock;
    private final Grant grant;
    private final Duration lease;

    /**
     * Whether the latest call has failed, or has no reply yet, so that the grant may be one that the store cannot renew. It is
     * renewed in a call of few grants or of its own then, and costs no other one.
     */
    private volatile boolean suspect;

    @GuardedBy("this")
    private int renewalsUnderWay;

    /** What to do when the renewals under way have ended; null until no further one may be sent. */
    @GuardedBy("this")
    private @Nullable Runnable whenStopped;

    /** When the latest renewal without a reply failed. It counts as one that may still execute for one lease duration. */
    private volatile @Nullable MonotonicInstant withoutReply;

    LeaseStoreGrantValidity(LockClock clock, Grant grant, Duration lease, MonotonicInstant validUntil) {
        super(clock, renewalPeriod(lease), validUntil);
        this.clock = clock;
        this.grant = grant;
        this.lease = lease;
    }

    /** Returns the time between two renewals. */
    static Duration renewalPeriod(Duration lease) {
        return Durations.divide(lease, RENEWALS_PER_LEASE);
    }

    Grant grant() {
        return grant;
    }

    Duration lease() {
        return lease;
    }

    boolean isSuspect() {
        return suspect;
    }

    /** Records a renewal that is about to be sent. Returns false if none may be sent any more. */
    synchronized boolean startRenewal() {
        if (whenStopped != null) {
            return false;
        }
        if (renewalsUnderWay++ > 0) {
            suspect = true;
        }
        return true;
    }

    void renewalEnded() {
        Runnable last;
        synchronized (this) {
            last = --renewalsUnderWay == 0 ? whenStopped : null;
        }
        if (last != null) {
            last.run();
        }
    }

    /**
     * Prevents all further renewals. Returns whether an earlier one may still execute: it is under way, or has failed less than a
     * lease duration ago.
     *
     * @param whenEnded runs when those under way have ended, if there are any
     */
    boolean stopRenewals(Runnable whenEnded) {
        synchronized (this) {
            whenStopped = whenEnded;
            if (renewalsUnderWay > 0) {
                return true;
            }
        }
        MonotonicInstant since = withoutReply;
        return since != null && !clock.hasPassed(since.plus(lease));
    }

    void renewalWithoutReply(Throwable failure) {
        suspect = true;
        withoutReply = clock.now();
        renewalUnknown(failure);
    }

    void renewedUntil(MonotonicInstant until) {
        suspect = false;
        extend(until);
    }
}

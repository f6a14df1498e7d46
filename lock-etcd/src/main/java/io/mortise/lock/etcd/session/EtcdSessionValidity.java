// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.session;

import io.mortise.lock.LossReason;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;

/** Tracks the time until which the client's etcd session, and so each of its grants, is certainly valid. */
public final class EtcdSessionValidity extends GrantValidity {
    /**
     * More than three, since a last response older than a third of the lease would make a "busy" result uncertain (S15).
     */
    private static final int RENEWALS_PER_LEASE = 4;

    private final EtcdSession session;
    private final Duration leaseDuration;

    /**
     * Creates the validity of a session that has just been opened.
     *
     * @param leaseDuration the lease duration that was granted
     * @param sent when the lease was requested
     */
    EtcdSessionValidity(EtcdSession session, LockClock clock, Duration leaseDuration, MonotonicInstant sent) {
        super(clock, leaseDuration.dividedBy(RENEWALS_PER_LEASE), LockClock.deadline(sent, leaseDuration));
        this.session = session;
        this.leaseDuration = leaseDuration;
    }

    /**
     * Extends the validity after a successful check.
     *
     * @param sent when the keepalive was sent
     * @param granted the duration that the server granted, counted from the sending of the keepalive
     */
    void renewed(MonotonicInstant sent, Duration granted) {
        extend(LockClock.deadline(sent, granted));
    }

    /** Returns the lease duration that was granted. */
    public Duration leaseDuration() {
        return leaseDuration;
    }

    /** Starts to renew the session; the outcome is reported to this validity. */
    public void renew() {
        session.renew(this);
    }

    @Override
    protected void onLost(LossReason reason) {
        session.end(reason);
    }
}

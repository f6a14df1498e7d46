// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.session;

import io.mortise.lock.LossReason;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicTime;
import java.time.Duration;

/** Validity of the session, on which all its grants depend. */
public final class EtcdSessionValidity extends GrantValidity {
    /** More often than each third of it: a response that is older makes "busy" doubtful (S15). */
    private static final int RENEWALS_PER_LEASE = 4;

    private final EtcdSession session;
    private final Duration lease;

    /**
     * Of a session that was opened just now.
     *
     * @param lease as granted
     * @param sent when it was asked for
     */
    EtcdSessionValidity(EtcdSession session, LockClock clock, Duration lease, MonotonicTime sent) {
        super(clock, lease.dividedBy(RENEWALS_PER_LEASE), LockClock.deadline(sent, lease));
        this.session = session;
        this.lease = lease;
    }

    /**
     * A renewal was proved.
     *
     * @param granted what the server gave it, which counts from the sending of the request
     */
    void renewed(MonotonicTime sent, Duration granted) {
        extend(LockClock.deadline(sent, granted));
    }

    /** As granted. */
    public Duration lease() {
        return lease;
    }

    /** Starts to renew the session; the outcome is told to this validity. */
    public void renew() {
        session.renew(this);
    }

    @Override
    protected void onLost(LossReason reason) {
        session.over(reason);
    }
}

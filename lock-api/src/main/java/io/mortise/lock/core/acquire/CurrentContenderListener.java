// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.acquire;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.LossReason;
import io.mortise.lock.core.lease.HeldLease;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockRequest;
import org.jspecify.annotations.Nullable;

/**
 * Passes the backend's notifications about the current contender to its acquire operation. The operation
 * replaces both if the queue entry is lost.
 */
public final class CurrentContenderListener implements ContenderListener {
    private final AcquireOperation owner;
    private final int number;
    private final String attemptId;
    private final Contender contender;

    @GuardedBy("this")
    private @Nullable LossReason lost;

    @GuardedBy("this")
    private @Nullable HeldLease lease;

    @SuppressWarnings("this-escape") // the backend does not call the listener before the first attempt
    CurrentContenderListener(AcquireOperation owner, int number, LockBackend backend, LockRequest request) {
        this.owner = owner;
        this.number = number;
        this.attemptId = request.attemptId();
        this.contender = backend.enqueue(request, this);
    }

    /** Returns the number of the contender in its operation, counted from 1. */
    int number() {
        return number;
    }

    String attemptId() {
        return attemptId;
    }

    Contender contender() {
        return contender;
    }

    @Override
    public void wake() {
        owner.hint(this);
    }

    @Override
    public void lost(LossReason reason) {
        HeldLease attached;
        synchronized (this) {
            lost = lost == null ? reason : lost;
            attached = lease;
        }
        if (attached != null) {
            attached.loseAlone(reason);
        }
    }

    @Override
    public boolean isStillWaiting() {
        return owner.waitsFor(this);
    }

    /** Passes losses to the lease from now on. A loss that was reported before is passed on immediately. */
    void attach(HeldLease granted) {
        LossReason before;
        synchronized (this) {
            lease = granted;
            before = lost;
        }
        if (before != null) {
            granted.loseAlone(before);
        }
    }
}

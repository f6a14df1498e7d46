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

/** The present contender of one acquire, and what its backend reported; replaced when the queue entry is lost. */
public final class ActiveContender implements ContenderListener {
    private final AcquireOperation owner;
    private final String attemptId;
    private final Contender contender;

    @GuardedBy("this")
    private @Nullable LossReason lost;

    @GuardedBy("this")
    private @Nullable HeldLease lease;

    @SuppressWarnings("this-escape") // the backend does not call the waiter before the first attempt
    ActiveContender(AcquireOperation owner, LockBackend backend, LockRequest request) {
        this.owner = owner;
        this.attemptId = request.attemptId();
        this.contender = backend.enqueue(request, this);
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
        HeldLease told;
        synchronized (this) {
            lost = lost == null ? reason : lost;
            told = lease;
        }
        if (told != null) {
            told.loseAlone(reason);
        }
    }

    @Override
    public boolean isWanted() {
        return owner.wants(this);
    }

    /** From now on a loss is the lease's; one that came before it was collected is passed on at once. */
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

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.redis.contender.AttemptRemoval;
import io.mortise.lock.redlock.master.RedlockMaster;
import io.mortise.lock.redlock.storage.RedlockKeys;
import io.mortise.lock.redlock.storage.RedlockScript;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockRequest;
import java.util.concurrent.atomic.AtomicBoolean;

/** Tracks whether one acquire attempt may have left a vote or a queue entry at one master, and removes what it left. */
final class StoredAttemptAtMaster {
    private final RedlockMaster master;
    private final AttemptRemoval removal;
    private final AtomicBoolean cleanupRunning = new AtomicBoolean();
    private final AttemptOrphanTracker orphans = new AttemptOrphanTracker();

    StoredAttemptAtMaster(
            RedlockMaster master, BackendContext context, LockRequest request, RedlockKeys.LockKeys keys) {
        this.master = master;
        this.removal = new AttemptRemoval(
                context, request, master::node, RedlockScript.RELEASE.script(), keys.all(), includeTime ->
                        new String[] {request.attemptId(), includeTime ? "1" : "0"});
    }

    RedlockMaster master() {
        return master;
    }

    AttemptRemoval removal() {
        return removal;
    }

    AttemptOrphanTracker orphans() {
        return orphans;
    }

    /** Records a reply that shows that the attempt has no grant at the master. */
    void noGrantFound() {
        if (!removal.mayStillExecute()) {
            orphans.nothingFound();
        }
    }

    /** Returns whether the attempt may have a grant or a queue entry at the master. */
    boolean mayHaveOrphans() {
        return orphans.mayExist();
    }

    /** Marks the cleanup as running; returns false if a cleanup is already running. */
    boolean beginCleanup() {
        return cleanupRunning.compareAndSet(false, true);
    }

    void endCleanup() {
        cleanupRunning.set(false);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.LockException;
import io.mortise.lock.redis.contender.AttemptRemoval;
import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.redlock.master.RedlockMaster;
import io.mortise.lock.redlock.storage.RedlockKeys;
import io.mortise.lock.redlock.storage.RedlockScript;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.support.InDoubtRequests;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Tracks whether one acquire attempt may have left a vote or a queue entry at one master, and removes what it left. The requests
 * of several rounds may overlap, since a late reply to an earlier round may arrive after the next round has sent its request.
 * Thread-safe.
 */
final class StoredAttemptAtMaster {
    private final RedlockMaster master;
    private final AttemptRemoval removal;
    private final AtomicBoolean cleanupRunning = new AtomicBoolean();

    @GuardedBy("this")
    private InDoubtRequests inDoubt = InDoubtRequests.NONE;

    @GuardedBy("this")
    private boolean mayBeQueued;

    @GuardedBy("this")
    private boolean mayExist;

    StoredAttemptAtMaster(RedlockMaster master, LockRequest request, RedlockKeys.LockKeys keys) {
        this.master = master;
        this.removal = new AttemptRemoval(request, RedlockScript.RELEASE.script(), keys.all());
    }

    RedlockMaster master() {
        return master;
    }

    /**
     * Records that a request was sent that may create a grant.
     *
     * @param queues whether the request may also create a queue entry, since the attempt waits
     */
    synchronized void requestSent(int epoch, boolean queues) {
        inDoubt = inDoubt.sent(epoch);
        mayBeQueued |= queues;
        mayExist = true;
    }

    /** Records that a request had a reply, or that it certainly was not executed. */
    synchronized void requestAnswered() {
        inDoubt = inDoubt.answered();
    }

    /** Records that a request had no reply, so that the master may still execute it until that time of its clock. */
    synchronized void requestLost(int epoch, ServerTime notAfter) {
        inDoubt = inDoubt.answered().lost(epoch, notAfter.micros());
    }

    /** Records the master's time in a reply on the connection of this epoch. */
    synchronized void timeReceived(int epoch, ServerTime time) {
        inDoubt = inDoubt.resolvedBy(epoch, time.micros());
    }

    /** Records a reply that shows that the attempt has no grant; ignored if it may still get one, or be queued. */
    synchronized void noGrantFound() {
        if (!inDoubt.mayStillExecute() && !mayBeQueued) {
            mayExist = false;
        }
    }

    /** Returns whether the attempt may have a grant or a queue entry at the master. */
    synchronized boolean mayHaveOrphans() {
        return mayExist;
    }

    /** Returns whether the attempt may have a queue entry. */
    synchronized boolean mayBeQueued() {
        return mayBeQueued;
    }

    private synchronized boolean hasLostRequests() {
        return inDoubt.anyLost();
    }

    /** Returns whether a request that may create a grant may still be executed. */
    synchronized boolean mayStillExecute() {
        return inDoubt.mayStillExecute();
    }

    /**
     * Removes the attempt's grant and queue entry once; the attempt may send further requests.
     *
     * @param held receives whether the attempt had a grant
     */
    void release(Consumer<Boolean> held, Consumer<LockException> failed) {
        removal.send(master.node(), hasLostRequests(), new AttemptRemoval.Handler() {
            @Override
            public void onRemoved(int epoch, ServerTime time, boolean wasHeld, boolean wasQueued) {
                timeReceived(epoch, time);
                held.accept(wasHeld);
            }

            @Override
            public void onFailure(boolean notExecuted, LockException cause) {
                failed.accept(cause);
            }
        });
    }

    /** Marks the cleanup as running; returns false if a cleanup is already running. */
    boolean beginCleanup() {
        return cleanupRunning.compareAndSet(false, true);
    }

    void endCleanup() {
        cleanupRunning.set(false);
    }
}

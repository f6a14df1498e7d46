// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.etcd.connection.EtcdErrors;
import io.mortise.lock.spi.support.InDoubtRequests;
import org.jspecify.annotations.Nullable;

/**
 * Tracks one contender's acquire requests that have an unknown outcome. Rule S8. A request without a reply counts as awaited for
 * ever: no later reply rules it out, but only a new epoch of the session. Thread-safe.
 */
final class EtcdInDoubtAcquireTracker {
    @GuardedBy("this")
    private InDoubtRequests inDoubt = InDoubtRequests.NONE;

    @GuardedBy("this")
    private boolean mayHaveExecuted;

    @GuardedBy("this")
    private boolean ended;

    /**
     * Records that a request is about to be sent. Returns false after {@link #end}: the request must not be sent, since it
     * would not be withdrawn.
     */
    synchronized boolean beforeSend(long epoch) {
        if (!ended) {
            inDoubt = inDoubt.sent(epoch);
        }
        return !ended;
    }

    /** Forbids further requests. Idempotent. */
    synchronized void end() {
        ended = true;
    }

    /**
     * Records the outcome of a request. After a refusal it was not executed, except that etcd may have executed it before
     * some errors; in both cases it will not be executed later.
     */
    synchronized void onCompleted(@Nullable Throwable failure) {
        boolean resourceExhausted = EtcdErrors.isResourceExhausted(failure);
        mayHaveExecuted |= resourceExhausted;
        if (resourceExhausted || !(failure instanceof BackendUnavailableException)) {
            inDoubt = inDoubt.answered();
        }
    }

    /** Returns whether a request may still be executed, so that only a new epoch can defeat it. */
    synchronized boolean mayStillExecute() {
        return inDoubt.mayStillExecute();
    }

    /** Returns whether a request may have been executed or may still be executed. */
    synchronized boolean mayHaveExecuted() {
        return inDoubt.mayStillExecute() || mayHaveExecuted;
    }

    /** Returns the latest epoch in which one of the requests was sent that may still be executed. */
    synchronized long latestEpoch() {
        return inDoubt.highestEpoch();
    }
}

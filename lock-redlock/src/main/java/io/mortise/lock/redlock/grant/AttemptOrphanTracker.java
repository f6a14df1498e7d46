// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

/**
 * Tracks whether a grant or a queue entry of one acquire attempt may be left at one master. Thread-safe.
 *
 * <p>Counts the pending requests, since a late reply to an earlier round may arrive after the next round has sent its request.
 */
final class AttemptOrphanTracker {
    private int pendingRequests;
    private boolean mayBeQueued;
    private boolean mayExist;

    /**
     * Records that a request was sent that may create a grant.
     *
     * @param queues whether the request may also create a queue entry, since the attempt waits
     */
    synchronized void requestSent(boolean queues) {
        pendingRequests++;
        mayBeQueued |= queues;
        mayExist = true;
    }

    /** Records that a request has received its reply or has failed. */
    synchronized void requestCompleted() {
        pendingRequests--;
    }

    /** Records a reply that shows that no grant exists; ignored if a pending request or a queue entry may exist. */
    synchronized void nothingFound() {
        if (pendingRequests == 0 && !mayBeQueued) {
            mayExist = false;
        }
    }

    synchronized boolean mayExist() {
        return mayExist;
    }

    /** Returns whether the attempt may have a queue entry. */
    synchronized boolean mayBeQueued() {
        return mayBeQueued;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

/**
 * Tracks whether an attempt may have left a grant or a queue entry at one master. Requests are counted, since a late answer to an
 * earlier round may arrive after the next round has asked. Thread-safe.
 */
final class OrphanTracker {
    private int pendingRequests;
    private boolean mayBeQueued;
    private boolean mayExist;

    /** Records that a request is sent that may create a grant, and a queue entry if the attempt waits. */
    synchronized void requestSent(boolean queues) {
        pendingRequests++;
        mayBeQueued |= queues;
        mayExist = true;
    }

    /** Records that a request was answered or has failed. */
    synchronized void requestCompleted() {
        pendingRequests--;
    }

    /** Records an answer that says that nothing exists; ignored while another request is pending. */
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

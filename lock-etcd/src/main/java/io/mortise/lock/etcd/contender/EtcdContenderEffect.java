// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import io.mortise.lock.etcd.contender.EtcdContenderEvent.Position;
import io.mortise.lock.etcd.queue.QueueReplica.ContenderKey;
import java.time.Duration;

/** Something to do for one contender after an event: send a request, answer the core, or tell the client's queue. */
sealed interface EtcdContenderEffect {
    /** The effects without data. */
    enum Plain implements EtcdContenderEffect {
        /**
         * Wait for the client's session, and join its queue for the lock. Leads to {@link EtcdContenderEvent.Joined} or
         * {@link EtcdContenderEvent.NoSession}.
         */
        JOIN_QUEUE,

        /**
         * Ask the sequencer for a turn. Leads to {@link EtcdContenderEvent.InTurn}, {@link EtcdContenderEvent.LockTaken} or
         * {@link EtcdContenderEvent.NotSent}.
         */
        REQUEST_TURN,

        /** Let all contenders of the client send at once, since the store does not respond. */
        RELEASE_TURNS,

        /** Use another key, since the present one belongs to another contender. */
        CHANGE_SLOT,

        /**
         * Read the contender's key, the session's, and the first of the queue. Leads to
         * {@link EtcdContenderEvent.NoKeyFound}, {@link EtcdContenderEvent.OwnKeyFound},
         * {@link EtcdContenderEvent.OtherKeyFound} or {@link EtcdContenderEvent.AcquireFailed}.
         */
        SEND_READ,

        /**
         * Check that the contender's key exists, and whether an older one does. The grant depends on this reply and not on a
         * watch event. Leads to {@link EtcdContenderEvent.PositionRead}, {@link EtcdContenderEvent.KeyGone} or
         * {@link EtcdContenderEvent.AcquireFailed}.
         */
        SEND_CHECK,

        /** Notify the contender when it becomes the first, and when its key is deleted. */
        WATCH_AS_WAITER,

        /** Notify the contender of a deletion of its key: at once if it was watched before, or if it holds the lock for long. */
        WATCH_AS_HOLDER_LATER,

        /** Notify the contender of a deletion of its key. */
        WATCH_AS_HOLDER,

        /** Notify the contender of nothing more, and give up its turn. */
        UNSUBSCRIBE,

        /** Count the contender as one whose key is being deleted, so that others do not take the lock for taken. */
        COUNT_REMOVAL,

        /** Use other keys for the contenders to come, since a deletion may still be executed. */
        START_KEY_SERIES,

        /**
         * Delete the key. Without a condition, which costs the server much less: no other contender of the client uses that key
         * before the reply. Leads to {@link EtcdContenderEvent.Removed} or {@link EtcdContenderEvent.RemovalFailed}.
         */
        SEND_DELETION,

        /** Delete the key if it is the contender's. Leads to the same events. */
        SEND_DELETION_IF_OWN,

        /**
         * Wait until the store has deleted the session. Leads to {@link EtcdContenderEvent.SessionRemoved} or
         * {@link EtcdContenderEvent.SessionNotRemoved}.
         */
        AWAIT_SESSION_REMOVAL,

        /** End the contender in the background, since the core will not do it. */
        START_CLEANUP,

        /** End the session, because one of its keys could not be deleted. */
        END_SESSION,

        /** Tell the core to make another attempt. */
        WAKE_WAITER,

        /** Tell the core that its grant is lost, since the key was deleted, unless the session has ended. */
        REPORT_LOSS,

        /** Complete the attempt: another contender comes first. */
        REPORT_WAITING,

        /** Complete the attempt: another client deleted the contender's key. */
        REPORT_KEY_DELETED,

        /** Complete the attempt: the session has ended. */
        REPORT_SESSION_ENDED,

        /** Fail the attempt, because the queue changes faster than requests are executed. */
        FAIL_RESTLESS,

        /** Fail the attempt, because its request was not sent. */
        FAIL_NOT_SENT
    }

    /**
     * Put the key if it is absent and the session is in this epoch, and count the queue; a contender that does not wait reads
     * the first of the queue instead. Leads to {@link EtcdContenderEvent.KeyPut}, {@link EtcdContenderEvent.KeyNotPut} or
     * {@link EtcdContenderEvent.AcquireFailed}.
     */
    record SendPut(long epoch) implements EtcdContenderEffect {}

    /** Remember that the contender's key was created by this revision; 0 if it is not known to exist. */
    record SetRevision(long revision) implements EtcdContenderEffect {}

    /**
     * Delete the contender's key, if it exists and that contender is still ahead of it. Leads to
     * {@link EtcdContenderEvent.GaveWay}, {@link EtcdContenderEvent.PositionRead}, {@link EtcdContenderEvent.KeyGone} or
     * {@link EtcdContenderEvent.AcquireFailed}.
     */
    record SendGiveWay(ContenderKey ahead) implements EtcdContenderEffect {}

    /** Bring {@link EtcdContenderEvent.ResultDelivered} once the core has been told the result. */
    record NoteDelivery(Position position) implements EtcdContenderEffect {}

    /**
     * Pass the turn to the next contender of the client.
     *
     * @param position the contender's position
     * @param isLeaving whether the contender is being removed, or was
     */
    record PassTurn(Position position, boolean isLeaving) implements EtcdContenderEffect {}

    /**
     * Delete the contender's key if it exists. Leads to {@link EtcdContenderEvent.Removed} or
     * {@link EtcdContenderEvent.RemovalFailed}.
     *
     * @param newEpoch whether to start a new epoch of the session too, which defeats the acquires that are on their way
     */
    record SendWithdrawal(boolean newEpoch) implements EtcdContenderEffect {}

    /**
     * Request a lease of that duration. Leads to {@link EtcdContenderEvent.LeaseGranted} or
     * {@link EtcdContenderEvent.RemovalFailed}.
     */
    record GrantLease(Duration delay) implements EtcdContenderEffect {}

    /**
     * Move the contender's key to a lease. The key keeps its revision, and so its position. Leads to
     * {@link EtcdContenderEvent.Moved} or {@link EtcdContenderEvent.RemovalFailed}.
     *
     * @param newEpoch whether to start a new epoch too, unless the session has ended
     */
    record SendMove(long leaseId, boolean newEpoch) implements EtcdContenderEffect {}

    /** Revoke a lease that has no key. */
    record RevokeLease(long leaseId) implements EtcdContenderEffect {}

    /**
     * Leave the client's queue, since the contender's key is certainly not in the store any more, or has another lease.
     *
     * @param removalCounted whether {@link Plain#COUNT_REMOVAL} came before
     */
    record LeaveQueue(boolean removalCounted) implements EtcdContenderEffect {}

    /** Complete the attempt with a grant. */
    record ReportGranted(long token) implements EtcdContenderEffect {}

    /** Fail the attempt. */
    record FailAttempt(Throwable failure) implements EtcdContenderEffect {}

    /** Complete the release or the withdrawal with whether there was a key. */
    record ReportEnded(boolean existed) implements EtcdContenderEffect {}

    /** Fail the release or the withdrawal. */
    record FailEnd(Throwable failure) implements EtcdContenderEffect {}
}

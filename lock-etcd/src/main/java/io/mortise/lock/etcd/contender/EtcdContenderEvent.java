// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import io.mortise.lock.etcd.connection.EtcdErrors;
import io.mortise.lock.etcd.queue.QueueReplica.ContenderKey;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Something that happens to one contender: a call of the core, the outcome of a request, or a notice of the session, of the lock's
 * queue, or of the sequencer of the client's acquires.
 *
 * <p>An epoch is that of the session as far as the client knows it, when the event happens.
 */
sealed interface EtcdContenderEvent {
    /** The core requests the grant. */
    record Attempt(long epoch) implements EtcdContenderEvent {}

    /** The core ends the contender: a release, or a withdrawal. */
    record End(long epoch) implements EtcdContenderEvent {}

    /** The core releases the grant with a delay. */
    record EndAfter(Duration delay, long epoch) implements EtcdContenderEvent {}

    /** The core gives up a removal that has failed for a whole lease duration. */
    record Abandon() implements EtcdContenderEvent {}

    /** The core has been told the result of an attempt that had the turn. It may have given the grant back meanwhile. */
    record ResultDelivered(Position position) implements EtcdContenderEvent {}

    /** The core could not be told of the grant, so that its attempt is still pending. */
    record GrantNotReported(Throwable failure) implements EtcdContenderEvent {}

    /** The outcome of a request. It means nothing after the contender has ended, and little after the session has. */
    sealed interface Response extends EtcdContenderEvent {}

    /** The contender has joined the queue of an open session. */
    record Joined(long epoch) implements Response {}

    /** There is no session. */
    record NoSession(Throwable failure) implements Response {}

    /**
     * The contender's position in the queue, as one transaction read it.
     *
     * @param ahead a contender that is ahead of it; null if there is none, or if the contenders were only counted
     * @param isFirst whether none is ahead of it, so that it holds the lock
     * @param contenders the number of contenders, including this one; any number if they were not counted
     */
    record Position(@Nullable ContenderKey ahead, boolean isFirst, long contenders) {
        /** Returns the position at the end of a queue of that many contenders. */
        static Position last(long contenders) {
            return new Position(null, contenders <= 1, contenders);
        }

        /** Returns the position behind a contender, or the first position if it is null. */
        static Position behind(@Nullable ContenderKey ahead, long contenders) {
            return new Position(ahead, ahead == null, contenders);
        }
    }

    /** The contender's key was created by this revision. */
    record KeyPut(long revision, Position position) implements Response {}

    /** The key was not put, because it exists, or because the session has another epoch. */
    record KeyNotPut() implements Response {}

    /** A read has not found the key. */
    record NoKeyFound(long epoch) implements Response {}

    /** A read has found the contender's key, which this revision created: an earlier request was executed. */
    record OwnKeyFound(long revision, Position position) implements Response {}

    /** A read has found the key of another contender in the slot. */
    record OtherKeyFound(long epoch) implements Response {}

    /** The contender's key exists. */
    record PositionRead(Position position) implements Response {}

    /** The contender's key does not exist any more. */
    record KeyGone() implements Response {}

    /** The contender's key was deleted, because another contender is still ahead. */
    record GaveWay() implements Response {}

    /** Tells whether the store may still execute a request that has failed. */
    enum Execution {
        /** It has refused the request, or the request was not sent. */
        NEVER,

        /** It may have executed the request, and will not do so later. */
        DONE_OR_NEVER,

        /** It may execute the request at any time. */
        AT_ANY_TIME;

        static Execution of(Throwable failure) {
            if (EtcdErrors.isResourceExhausted(failure)) {
                return DONE_OR_NEVER;
            }
            return EtcdErrors.hasUnknownOutcome(failure) ? AT_ANY_TIME : NEVER;
        }
    }

    /** A request of an attempt has failed. */
    record AcquireFailed(Execution execution, Throwable failure) implements Response {
        static AcquireFailed of(Throwable failure) {
            return new AcquireFailed(Execution.of(failure), failure);
        }
    }

    /**
     * The contender's key does not exist any more, and will not be put again.
     *
     * @param existed whether this request deleted it; if the key's revision was known, whether it deleted that very key
     */
    record Removed(boolean existed) implements Response {}

    /** A lease was granted for the delay of a release. */
    record LeaseGranted(long leaseId) implements Response {}

    /** The contender's key was attached to the lease of the delay, or does not exist any more. */
    record Moved(boolean existed) implements Response {}

    /** A request to remove the contender, or to move its key, has failed. */
    record RemovalFailed(Throwable failure) implements Response {}

    /** The store has deleted the session with all its keys. */
    record SessionRemoved() implements Response {}

    /** It is unknown whether the store has deleted the session. */
    record SessionNotRemoved(Throwable failure) implements Response {}

    /** Something that may happen at any time, also without a request. */
    sealed interface Notice extends EtcdContenderEvent {}

    /** It is the contender's turn to send its acquire. */
    record InTurn(long epoch) implements Notice {}

    /** Another contender of the client, before this one, has found that the lock is taken. */
    record LockTaken() implements Notice {}

    /** The acquire will not be sent: the store does not respond, and no caller needs it. */
    record NotSent() implements Notice {}

    /** No other contender appears to be ahead in the queue. */
    record FirstInQueue() implements Notice {}

    /** The contender's key was deleted, but not by the contender. */
    record KeyDeleted() implements Notice {}

    /** The grant has been held for long enough to be watched. */
    record WatchDue() implements Notice {}

    /** The contender's session has ended. The store deletes the session's keys, or will do so. */
    record SessionEnded() implements Notice {}
}

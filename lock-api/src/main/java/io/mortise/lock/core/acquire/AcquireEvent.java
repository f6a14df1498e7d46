// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.acquire;

import io.mortise.lock.LockException;
import io.mortise.lock.core.runtime.StoreContact;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;

/** Something that happens to one acquire operation: a call, the result of an attempt, a hint, or a timer. */
sealed interface AcquireEvent {
    /** The events without data. */
    enum Plain implements AcquireEvent {
        /** The operation starts, and may make its first attempt at once. */
        START,

        /** The operation starts, and waits in the local queue until it is the first there. */
        START_IN_QUEUE,

        /** The operation has joined the local queue behind others. */
        JOINED_BEHIND_OTHERS,

        /** The store has granted the lock, and the lease of the grant is ready to be delivered. */
        GRANTED,

        /** The attempt was not sent, because the operation has ended since it was decided. */
        NOT_SENT,

        /** The caller withdraws the request. */
        WITHDRAW,

        /** The client closes. */
        CLOSE
    }

    /** The operation has joined the local queue as the first one. */
    record JoinedAsFirst(MonotonicInstant now) implements AcquireEvent {}

    /**
     * The operations before this one have left the local queue.
     *
     * @param storeSilent whether the last of them failed because the store does not respond
     */
    record FirstInQueue(boolean storeSilent, MonotonicInstant now, StoreContact contact) implements AcquireEvent {}

    /** An attempt of the first operation in the local queue had no response. It may have been the first until this one was. */
    record StoreSilent(MonotonicInstant now, StoreContact contact) implements AcquireEvent {}

    /** A hint for the contender with this number. */
    record Hint(int contender, MonotonicInstant now) implements AcquireEvent {}

    /** A hint from this process: it has released the lock for which the operation is the first in the local queue. */
    record LockFreed(MonotonicInstant now) implements AcquireEvent {}

    /** The timer for the next attempt has fired. It may have been set for an earlier pause, since a timer can be cancelled too late. */
    record RetryDue(MonotonicInstant now) implements AcquireEvent {}

    /**
     * The time limit has passed.
     *
     * @param queueBusy whether the latest result in the local queue of this operation was "busy"; false if it has no local queue
     */
    record DeadlineReached(boolean queueBusy, MonotonicInstant now, StoreContact contact) implements AcquireEvent {}

    /** A timer could not be set. */
    record TimerFailed(LockException cause) implements AcquireEvent {}

    /** Another contender holds the lock; see {@link io.mortise.lock.spi.AttemptResult.Waiting}. */
    record Busy(Duration retryAfter, MonotonicInstant now, double jitter) implements AcquireEvent {}

    /** An attempt has ended without an answer to whether the lock is busy. */
    sealed interface Unanswered extends AcquireEvent {
        MonotonicInstant now();

        /** Returns what is known of the store, without this attempt. */
        StoreContact contact();

        /** Returns a random number from 0 to 1, which lengthens the pause that may follow. */
        double jitter();
    }

    /** The attempt failed. */
    record Failed(LockException cause, MonotonicInstant now, StoreContact contact, double jitter)
            implements Unanswered {}

    /** The queue entry of the contender was deleted. */
    record Displaced(String why, MonotonicInstant now, StoreContact contact, double jitter) implements Unanswered {}

    /** The store has granted the lock, but the grant has ended already, or the client closes. */
    record GrantEnded(MonotonicInstant now, StoreContact contact, double jitter) implements Unanswered {}
}

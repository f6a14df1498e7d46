// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.acquire;

import io.mortise.lock.LockException;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Something to do for one acquire operation after an event: call the backend, or tell the caller the outcome. */
sealed interface AcquireEffect {
    /** The effects without data. */
    enum Plain implements AcquireEffect {
        /** Join the local queue. Leads to {@code JOINED_BEHIND_OTHERS} or {@link AcquireEvent.JoinedAsFirst}. */
        JOIN_QUEUE,

        /** Leave the local queue, if the operation has joined it after its end. */
        LEAVE_QUEUE,

        /** Notify the observers that the operation waits in the local queue. */
        NOTIFY_WAITING,

        /** Deliver the lease, then leave the client and the local queue. */
        DELIVER,

        /** Remove the grant whose lease is not delivered. */
        DISCARD,

        /** Tell the client that the operation has no pending attempt and makes none any more. */
        LEAVE_CLIENT
    }

    /** Make an attempt by the contender with this number; if it does not exist, enqueue it first. */
    record Attempt(int contender) implements AcquireEffect {
        static final Attempt FIRST = new Attempt(1);
    }

    /** Remove the contender with this number from the store, if it exists. */
    record Remove(int contender) implements AcquireEffect {}

    /** Record that an attempt had no response. */
    record RecordFailure(MonotonicInstant sent) implements AcquireEffect {}

    /** Tell the caller an outcome without a lease, then leave the local queue. */
    sealed interface End extends AcquireEffect {}

    /** The ends without data. */
    enum PlainEnd implements End {
        /** Another owner held the lock until the time limit. */
        BUSY,

        /** The caller has withdrawn the request. */
        WITHDRAWN,

        /** The client closes. */
        CLOSED
    }

    /** Waiting cannot resolve the failure. */
    record FailedForGood(LockException cause) implements End {}

    /**
     * The store does not respond.
     *
     * @param silence the time since the first request without a response
     * @param last the latest failure; null if there was none
     */
    record Unavailable(Duration silence, @Nullable LockException last) implements End {}
}

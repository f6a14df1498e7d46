// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.lease;

import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.spi.MonotonicInstant;

/** Something that happens to one lease: a step of the core, a loss, a call, or the outcome of a release. */
sealed interface LeaseEvent {
    /** The events without data. */
    enum Plain implements LeaseEvent {
        /** The lease is registered: it is renewed, and its deadline is watched. */
        REGISTERED,

        /** The lease could not be registered, because its grant has ended already or the client closes. */
        NOT_REGISTERED,

        /** The observers have been notified of the grant, and want to hear of the end. */
        OBSERVED,

        /** The lease is not delivered. */
        DISCARD,

        /** All leases that a loss concerns have been notified of it, so logs and requests may follow. */
        AFTER_LOSS
    }

    /** The grant is lost. */
    record Loss(LossReason reason) implements LeaseEvent {}

    /**
     * The application releases the lease.
     *
     * @param keptUntil until when the store keeps the lock; {@code now} to remove the grant
     */
    record Release(MonotonicInstant now, MonotonicInstant keptUntil) implements LeaseEvent {}

    /** The outcome of the release is known, or its time has passed. */
    record ReleaseEnded(ReleaseOutcome outcome) implements LeaseEvent {}
}

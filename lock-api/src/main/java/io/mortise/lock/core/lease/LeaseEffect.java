// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.lease;

import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.spi.MonotonicInstant;

/** Something to do for one lease after an event. */
sealed interface LeaseEffect {
    /** The effects without data. */
    enum Plain implements LeaseEffect {
        /** End the renewals and timers of the lease. */
        STOP_WATCHING,

        /** Remove the grant from the store, in the background. */
        REMOVE_GRANT,

        /** Leave the client, whose close waits for the removal of the grant from now on, and no longer for the lease. */
        LEAVE_CLIENT
    }

    /** Complete the futures of the application with a loss. */
    record AnnounceLoss(LossReason reason) implements LeaseEffect {}

    /** Log a loss. */
    record LogLoss(LossReason reason) implements LeaseEffect {}

    /** Notify the observers of a loss now. */
    record NotifyLoss(LossReason reason) implements LeaseEffect {}

    /** End the grant in the store, or let the store keep it until then. Leads to {@link LeaseEvent.ReleaseEnded}. */
    record SendRelease(MonotonicInstant keptUntil) implements LeaseEffect {}

    /**
     * Notify the observers of the outcome of a release.
     *
     * @param releasedAt when the release was called
     */
    record NotifyReleased(ReleaseOutcome outcome, MonotonicInstant releasedAt) implements LeaseEffect {}

    /** Complete the release. */
    record CompleteRelease(ReleaseOutcome outcome) implements LeaseEffect {}
}

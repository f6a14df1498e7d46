// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.internal;

import java.util.function.BooleanSupplier;

/** A lock that reports elections on it to the listeners of its client. */
public interface ElectionReporter {
    /**
     * Reports that a candidate starts its campaign.
     *
     * @param leading returns whether the candidate leads now
     * @return receives what follows
     */
    Campaign electionStarted(BooleanSupplier leading);

    /** Receives the events of the campaign of one candidate, one at a time. */
    interface Campaign {
        /** Reports that the candidate became the leader. */
        void elected();

        /** Reports that the campaign has ended. */
        void ended();
    }
}

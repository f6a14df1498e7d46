// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import java.time.Duration;

/**
 * Bounds how far one clock is ahead of another, from exchanged timestamps. Each further answer narrows it. Both clocks
 * must run at one rate, as all monotonic clocks of a machine do; only their origins may differ.
 */
final class ClockOffsetEstimator {
    private long least = Long.MIN_VALUE;
    private long most = Long.MAX_VALUE;

    /**
     * @param asked when the question was sent, on this side's clock
     * @param answer the other side's clock
     * @param heard when the answer arrived, on this side's clock
     */
    void answered(long asked, long answer, long heard) {
        least = Math.max(least, asked - answer);
        most = Math.min(most, heard - answer);
        if (least > most) {
            throw new IllegalStateException(
                    "two clocks of one machine drift apart by " + Duration.ofNanos(least - most));
        }
    }

    /** To be added to the other side's times. */
    UncertainInstant toHere() {
        return new UncertainInstant(least, most);
    }
}

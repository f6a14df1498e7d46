// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import java.time.Duration;

/**
 * Estimates the offset between the clocks of two processes from exchanged timestamps.
 *
 * <p>The estimate is a lower and an upper bound, which each further reply narrows. Both clocks must run at the same rate, as
 * all monotonic clocks of a machine do; only their origins may differ.
 */
final class ClockOffsetEstimator {
    private long least = Long.MIN_VALUE;
    private long most = Long.MAX_VALUE;

    /**
     * Narrows the bounds with the timestamps of one exchange.
     *
     * @param sent time on the local clock when the request was sent
     * @param remote time on the remote clock when it replied
     * @param received time on the local clock when the reply arrived
     */
    void onReply(long sent, long remote, long received) {
        least = Math.max(least, sent - remote);
        most = Math.min(most, received - remote);
        if (least > most) {
            throw new IllegalStateException(
                    "two clocks of one machine drift apart by " + Duration.ofNanos(least - most));
        }
    }

    /** Returns the offset to add to a remote time to get the local time. */
    UncertainInstant toLocal() {
        return new UncertainInstant(least, most);
    }
}

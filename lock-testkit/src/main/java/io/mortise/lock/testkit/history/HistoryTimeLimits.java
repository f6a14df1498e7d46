// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import java.time.Duration;

/**
 * Longest times that events may take before a history counts as bad. They should be generous: they are there to find
 * what never happens, or far too late.
 *
 * @param handOffWithin the longest that a lock may be free while a healthy waiter waits for it and nothing is broken (S11);
 *     longer than the second in which a withdrawal may take effect (S8)
 * @param takeoverWithin the longest that a silent contender may stand in the way: lease or session, the granularity of the
 *     store's expiry, and 2 s (S11)
 * @param noticeWithin the longest from the next grant until a running holder was told of its loss (S7), most of it for the
 *     executor
 * @param overshootWithin the longest that a wait may go on after its limit (S9)
 */
public record HistoryTimeLimits(
        Duration handOffWithin, Duration takeoverWithin, Duration noticeWithin, Duration overshootWithin) {
    /** 5 s for each of the others: what a machine may take that runs ten times as much as it can. */
    public static HistoryTimeLimits takeoverWithin(Duration takeoverWithin) {
        Duration starved = Duration.ofSeconds(5);
        return new HistoryTimeLimits(starved, takeoverWithin, starved, starved);
    }
}

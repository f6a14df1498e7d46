// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import java.time.Duration;

/**
 * The longest delays that a recorded history may contain without breaking a rule.
 *
 * <p>The limits should be generous: they serve to find events that never happen, or happen far too late.
 *
 * @param handOffWithin the longest time that a lock may be free while a healthy waiter waits for it and no fault is active
 *     (S11); longer than the second in which a withdrawal may take effect (S8)
 * @param takeoverWithin the longest time that an unresponsive contender may block a lock: lease or session, the granularity of
 *     the store's expiry, and 2 s (S11)
 * @param noticeWithin the longest time from the next grant until a running holder is notified of its loss (S7), most of it for
 *     the executor
 * @param overshootWithin the longest time that a wait may continue after its limit (S9)
 */
public record HistoryCheckTolerances(
        Duration handOffWithin, Duration takeoverWithin, Duration noticeWithin, Duration overshootWithin) {
    /** Returns limits with the given takeover time and 5 s for each other limit, enough for a heavily overloaded machine. */
    public static HistoryCheckTolerances takeoverWithin(Duration takeoverWithin) {
        Duration starved = Duration.ofSeconds(5);
        return new HistoryCheckTolerances(starved, takeoverWithin, starved, starved);
    }
}

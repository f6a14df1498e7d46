// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Result of checking a history.
 *
 * @param grants leases that were returned
 * @param handOffs how often the next grant of a lock went to another process
 * @param losses leases that were told lost
 * @param refusedWrites writes that a resource refused
 * @param wrongBeliefs frozen holders that were overtaken; no violation by themselves
 * @param longestFree the longest that a lock was free while a healthy waiter waited for it
 * @param violations the broken rules; empty if the history is good
 */
public record HistoryReport(
        long grants,
        long handOffs,
        long losses,
        long refusedWrites,
        List<StaleHolderPeriod> wrongBeliefs,
        Duration longestFree,
        List<RuleViolation> violations) {
    private static final int SHOWN = 20;

    /** Figures in one line, then at most 20 violations, one a line. */
    @Override
    public String toString() {
        return "grants=" + grants + " handOffs=" + handOffs + " losses=" + losses + " refusedWrites=" + refusedWrites
                + " wrongBeliefs=" + wrongBeliefs.size() + " longestFree=" + longestFree + " violations="
                + violations.size()
                + violations.stream()
                        .limit(SHOWN)
                        .map(violation -> "\n" + violation)
                        .collect(Collectors.joining());
    }
}

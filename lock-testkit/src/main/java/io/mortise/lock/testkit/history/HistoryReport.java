// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The result of checking a history: its violations, and counts of grants, losses and rejected writes.
 *
 * @param grants number of leases that were returned
 * @param handOffs number of times that the next grant of a lock was to another process
 * @param losses number of leases that were reported lost
 * @param refusedWrites number of writes that a resource rejected
 * @param staleHolders frozen holders whose lock was granted to another call; no violations by themselves
 * @param longestFree the longest time that a lock was free while a healthy waiter waited for it
 * @param violations the violations of rules; empty if the history is good
 */
public record HistoryReport(
        long grants,
        long handOffs,
        long losses,
        long refusedWrites,
        List<StaleHolderPeriod> staleHolders,
        Duration longestFree,
        List<RuleViolation> violations) {
    private static final int SHOWN = 20;

    /** Returns the counts in one line, then at most 20 violations, one per line. */
    @Override
    public String toString() {
        return "grants=" + grants + " handOffs=" + handOffs + " losses=" + losses + " refusedWrites=" + refusedWrites
                + " staleHolders=" + staleHolders.size() + " longestFree=" + longestFree + " violations="
                + violations.size()
                + violations.stream()
                        .limit(SHOWN)
                        .map(violation -> "\n" + violation)
                        .collect(Collectors.joining());
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import java.util.ArrayList;
import java.util.List;

/** Collects the violations and statistics that the checks of one history find. */
final class ViolationCollector {
    final List<RuleViolation> violations = new ArrayList<>();
    final List<StaleHolderPeriod> staleHolders = new ArrayList<>();
    long longestFree;

    /**
     * Adds a violation.
     *
     * @param events the events that show the violation
     */
    void violation(String rule, String what, HistoryEvent... events) {
        StringBuilder text = new StringBuilder(what);
        for (HistoryEvent event : events) {
            text.append(" [").append(event.line()).append(']');
        }
        violations.add(new RuleViolation(rule, text.toString()));
    }
}

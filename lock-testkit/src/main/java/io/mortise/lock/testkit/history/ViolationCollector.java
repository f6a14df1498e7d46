// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import java.util.ArrayList;
import java.util.List;

/** Collects the findings of the checks. */
final class ViolationCollector {
    final List<RuleViolation> violations = new ArrayList<>();
    final List<StaleHolderPeriod> wrongBeliefs = new ArrayList<>();
    long longestFree;

    /** @param events those that show it */
    void violation(String rule, String what, HistoryEvent... events) {
        StringBuilder text = new StringBuilder(what);
        for (HistoryEvent event : events) {
            text.append(" [").append(event.line()).append(']');
        }
        violations.add(new RuleViolation(rule, text.toString()));
    }
}

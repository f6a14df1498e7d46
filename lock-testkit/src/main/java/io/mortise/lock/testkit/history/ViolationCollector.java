// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import java.util.ArrayList;
import java.util.List;

/** Collects the findings of the checks. */
final class ViolationCollector {
    final List<Violation> violations = new ArrayList<>();
    final List<StaleBelief> wrongBeliefs = new ArrayList<>();
    long longestFree;

    /** @param events those that show it */
    void violation(String rule, String what, Event... events) {
        StringBuilder text = new StringBuilder(what);
        for (Event event : events) {
            text.append(" [").append(event.line()).append(']');
        }
        violations.add(new Violation(rule, text.toString()));
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.report;

import java.util.List;
import java.util.stream.Collectors;

/** The last events of a failed test, added to its failure as a suppressed exception, so that every test runner prints them. */
final class RecordedEventsException extends Exception {
    private static final long serialVersionUID = 1;
    private static final int MAX_LINES = 40;

    RecordedEventsException(List<LockEvent> events) {
        super("what happened in this test:" + text(events), null, false, false);
    }

    private static String text(List<LockEvent> events) {
        int first = Math.max(0, events.size() - MAX_LINES);
        return events.stream()
                .skip(first)
                .map(LockEvent::toString)
                .collect(Collectors.joining("\n", first == 0 ? "\n" : "\n  (" + first + " earlier events)\n", ""));
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Checks a history against the rules S1 to S9 and S11.
 *
 * <p>No false alarms: an event counts as before another only if it was so wherever in their {@linkplain UncertainInstant spans} the two
 * happened, so a clock known only roughly hides faults shorter than its uncertainty, and invents none. What a rule does not
 * cover is not judged either: a holder that was frozen and overtaken is {@linkplain HistoryReport#wrongBeliefs() counted}, and only
 * a write of it that is accepted after one with a higher token, or a later belief, is a violation. Histories in which somebody deletes grants in the store do
 * not fit S1, and are not for this checker.
 *
 * <p>The history should have its end: each call has come back, or its process was killed. The time that it takes grows
 * little faster than the number of events. Stateless.
 */
public final class HistoryChecker {
    private final HistoryTimeLimits bounds;

    /** @param bounds what counts as too long */
    public HistoryChecker(HistoryTimeLimits bounds) {
        this.bounds = bounds;
    }

    /**
     * The verdict.
     *
     * @throws IllegalArgumentException if the events do not fit together, such as a grant of a call that never asked
     */
    public HistoryReport check(History history) {
        return check(history.events());
    }

    HistoryReport check(List<HistoryEvent> events) {
        ViolationCollector findings = new ViolationCollector();
        SilentPeriods silences = new SilentPeriods(events);
        long end = events.stream().mapToLong(event -> event.at().latest()).max().orElse(0);
        long handOffs = 0;
        for (List<HistoryEvent.OfCall> ofOneLock : byLock(events).values()) {
            SingleLockHistory lock = new SingleLockHistory(ofOneLock, silences, end, bounds);
            ExclusionCheck.check(lock, findings);
            TokenCheck.check(lock, findings);
            LossCheck.check(lock, findings);
            StarvationCheck.check(lock, findings);
            handOffs += lock.handOffs();
        }
        return new HistoryReport(
                count(events, HistoryEvent.Granted.class),
                handOffs,
                count(events, HistoryEvent.Told.class),
                events.stream()
                        .filter(event -> event instanceof HistoryEvent.Wrote wrote && !wrote.accepted())
                        .count(),
                List.copyOf(findings.wrongBeliefs),
                Duration.ofNanos(findings.longestFree),
                List.copyOf(findings.violations));
    }

    private static Map<String, List<HistoryEvent.OfCall>> byLock(List<HistoryEvent> events) {
        Map<String, List<HistoryEvent.OfCall>> locks = new LinkedHashMap<>();
        for (HistoryEvent event : events) {
            if (event instanceof HistoryEvent.OfCall of) {
                locks.computeIfAbsent(of.call().lock(), name -> new ArrayList<>())
                        .add(of);
            }
        }
        return locks;
    }

    private static long count(List<HistoryEvent> events, Class<? extends HistoryEvent> kind) {
        return events.stream().filter(kind::isInstance).count();
    }
}

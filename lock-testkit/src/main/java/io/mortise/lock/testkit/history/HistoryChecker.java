// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Checks a recorded history of lock events for violations of the locking rules.
 *
 * <p>Checks the rules S1 to S9 and S11. It reports no false violations: an event counts as before another only if that holds
 * for all instants in their {@linkplain UncertainInstant spans}. An imprecise clock can therefore hide a violation that is
 * shorter than its uncertainty, but never cause one. Cases that a rule does not cover are no violation: a frozen holder whose
 * lock was granted to another is only {@linkplain HistoryReport#staleHolders() counted}. It is a violation if its write is
 * accepted after one with a higher token, or if it reports the lease as held afterwards. Histories in which a grant is deleted
 * in the store break S1 and must not be checked.
 *
 * <p>The history should be complete: each call has returned, or its process was killed. The running time grows little faster
 * than the number of events. Stateless.
 */
public final class HistoryChecker {
    private final HistoryCheckTolerances limits;

    /**
     * Creates a checker.
     *
     * @param limits the longest times that the history may take for its events
     */
    public HistoryChecker(HistoryCheckTolerances limits) {
        this.limits = limits;
    }

    /**
     * Checks the history and returns its violations and counts.
     *
     * @throws IllegalArgumentException if the events are inconsistent, such as a grant of a call without a request
     */
    public HistoryReport check(History history) {
        return check(history.events());
    }

    HistoryReport check(List<HistoryEvent> events) {
        ViolationCollector findings = new ViolationCollector();
        UnreachablePeriods silences = new UnreachablePeriods(events);
        long end = events.stream().mapToLong(event -> event.at().latest()).max().orElse(0);
        long handOffs = 0;
        for (List<HistoryEvent.OfCall> ofOneLock : byLock(events).values()) {
            SingleLockHistory lock = new SingleLockHistory(ofOneLock, silences, end, limits);
            ExclusionCheck.check(lock, findings);
            TokenCheck.check(lock, findings);
            LossCheck.check(lock, findings);
            WaiterProgressCheck.check(lock, findings);
            handOffs += lock.handOffs();
        }
        return new HistoryReport(
                count(events, HistoryEvent.Granted.class),
                handOffs,
                count(events, HistoryEvent.LossReported.class),
                events.stream()
                        .filter(event -> event instanceof HistoryEvent.Wrote wrote && !wrote.accepted())
                        .count(),
                List.copyOf(findings.staleHolders),
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

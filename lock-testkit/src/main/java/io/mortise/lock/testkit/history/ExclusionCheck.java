// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import io.mortise.lock.ReleaseOutcome;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * Checks that no two leases of a lock are believed in at one instant (S1). S2: nor is one that another has followed,
 * also after a pause. S5: a lease that another has followed is not RELEASED. S6: what has ended stays ended.
 */
final class ExclusionCheck {
    private final SingleLockHistory lock;
    private final ViolationCollector findings;
    // One believer too long meets many others: once is enough.
    private final Set<AcquireCallId> reported = new HashSet<>();

    private ExclusionCheck(SingleLockHistory lock, ViolationCollector findings) {
        this.lock = lock;
        this.findings = findings;
    }

    static void check(SingleLockHistory lock, ViolationCollector findings) {
        ExclusionCheck check = new ExclusionCheck(lock, findings);
        lock.granted.forEach(check::resurrection);
        lock.granted.forEach(check::beliefInWhatIsOver);
        lock.granted.forEach(check::releaseOfWhatIsOver);
        check.overlaps();
    }

    private void resurrection(RecordedCall one) {
        one.over()
                .ifPresent(over -> one.beliefs()
                        .filter(check -> over.at().isBefore(check.at()))
                        .findFirst()
                        .ifPresent(check -> findings.violation("S6", "held again after it had ended", over, check)));
    }

    private void beliefInWhatIsOver(RecordedCall one) {
        one.lastBelief()
                .ifPresent(check -> lock.overtakenBy(one, check.at().earliest()).ifPresent(other -> {
                    reported.add(one.call());
                    findings.violation(
                            pausedBefore(one, check) ? "S2" : "S1",
                            "believed to be held after the lock was granted to another",
                            check,
                            Objects.requireNonNull(other.granted));
                }));
    }

    private boolean pausedBefore(RecordedCall one, HistoryEvent.Checked check) {
        UncertainInstant granted = Objects.requireNonNull(one.granted).at();
        return lock.silences
                .pauses(one.process())
                .anyMatch(pause -> granted.isBefore(pause.from().at())
                        && pause.until() != null
                        && pause.until().at().earliest() <= check.at().latest());
    }

    private void releaseOfWhatIsOver(RecordedCall one) {
        if (one.releasing == null || one.released == null || one.released.outcome() != ReleaseOutcome.RELEASED) {
            return;
        }
        lock.overtakenBy(one, one.releasing.at().earliest())
                .ifPresent(other -> findings.violation(
                        "S5",
                        "RELEASED, though the lock had been granted to another before the release was called",
                        one.releasing,
                        one.released,
                        Objects.requireNonNull(other.granted)));
    }

    /** Also where nothing tells which of the two came first. */
    private void overlaps() {
        List<RecordedCall> believers = lock.granted.stream()
                .filter(one -> one.firstBelief().isPresent())
                .sorted(Comparator.comparingLong(ExclusionCheck::from))
                .toList();
        for (int i = 0; i < believers.size(); i++) {
            RecordedCall one = believers.get(i);
            long until = until(one);
            for (int j = i + 1; j < believers.size() && from(believers.get(j)) <= until; j++) {
                RecordedCall other = believers.get(j);
                // Whatever the instants are, each of the two began to believe before the other was through.
                boolean overlap = from(one) <= until(other);
                if (overlap && !reported.contains(other.call()) && reported.add(one.call())) {
                    findings.violation(
                            "S1",
                            "two believe at once",
                            last(one),
                            other.firstBelief().orElseThrow(),
                            last(other));
                }
            }
        }
    }

    private static long from(RecordedCall one) {
        return one.firstBelief().map(check -> check.at().latest()).orElseThrow();
    }

    private static long until(RecordedCall one) {
        return last(one).at().earliest();
    }

    private static HistoryEvent last(RecordedCall one) {
        Optional<HistoryEvent.Checked> last = one.lastBelief();
        return last.orElseThrow();
    }
}

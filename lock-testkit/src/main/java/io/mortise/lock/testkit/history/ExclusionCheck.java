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
 * Checks that no two leases of one lock are reported as held at the same instant.
 *
 * <p>Rules: two leases are never held at once (S1); a lease is not reported as held after the next grant, even after a pause
 * (S2); a release after the next grant does not report RELEASED (S5); an ended lease is never held again (S6).
 */
final class ExclusionCheck {
    private final SingleLockHistory lock;
    private final ViolationCollector findings;
    // A lease that is held too long overlaps many others: one violation is enough.
    private final Set<AcquireCallId> reported = new HashSet<>();

    private ExclusionCheck(SingleLockHistory lock, ViolationCollector findings) {
        this.lock = lock;
        this.findings = findings;
    }

    static void check(SingleLockHistory lock, ViolationCollector findings) {
        ExclusionCheck check = new ExclusionCheck(lock, findings);
        lock.granted.forEach(check::resurrection);
        lock.granted.forEach(check::heldAfterNextGrant);
        lock.granted.forEach(check::releasedAfterNextGrant);
        check.overlaps();
    }

    private void resurrection(SingleAcquireHistory one) {
        one.leaseEnd()
                .ifPresent(end -> one.heldChecks()
                        .filter(check -> end.at().isBefore(check.at()))
                        .findFirst()
                        .ifPresent(check -> findings.violation("S6", "held again after it had ended", end, check)));
    }

    private void heldAfterNextGrant(SingleAcquireHistory one) {
        one.lastHeldCheck()
                .ifPresent(check -> lock.findNewerGrant(one, check.at().earliest())
                        .ifPresent(other -> {
                            reported.add(one.call());
                            findings.violation(
                                    pausedBefore(one, check) ? "S2" : "S1",
                                    "reported as held after the lock was granted to another call",
                                    check,
                                    Objects.requireNonNull(other.granted));
                        }));
    }

    private boolean pausedBefore(SingleAcquireHistory one, HistoryEvent.Checked check) {
        UncertainInstant granted = Objects.requireNonNull(one.granted).at();
        return lock.silences
                .pauses(one.process())
                .anyMatch(pause -> granted.isBefore(pause.from().at())
                        && pause.until() != null
                        && pause.until().at().earliest() <= check.at().latest());
    }

    private void releasedAfterNextGrant(SingleAcquireHistory one) {
        if (one.releasing == null || one.released == null || one.released.outcome() != ReleaseOutcome.RELEASED) {
            return;
        }
        lock.findNewerGrant(one, one.releasing.at().earliest())
                .ifPresent(other -> findings.violation(
                        "S5",
                        "RELEASED, though the lock had been granted to another call before the release was called",
                        one.releasing,
                        one.released,
                        Objects.requireNonNull(other.granted)));
    }

    /** Finds overlaps also if the order of the two grants is unknown. */
    private void overlaps() {
        List<SingleAcquireHistory> holders = lock.granted.stream()
                .filter(one -> one.firstHeldCheck().isPresent())
                .sorted(Comparator.comparingLong(ExclusionCheck::from))
                .toList();
        for (int i = 0; i < holders.size(); i++) {
            SingleAcquireHistory one = holders.get(i);
            long until = until(one);
            for (int j = i + 1; j < holders.size() && from(holders.get(j)) <= until; j++) {
                SingleAcquireHistory other = holders.get(j);
                // Wherever the instants lie in their spans, each lease was held before the other's last check.
                boolean overlap = from(one) <= until(other);
                if (overlap && !reported.contains(other.call()) && reported.add(one.call())) {
                    findings.violation(
                            "S1",
                            "two leases held at once",
                            last(one),
                            other.firstHeldCheck().orElseThrow(),
                            last(other));
                }
            }
        }
    }

    private static long from(SingleAcquireHistory one) {
        return one.firstHeldCheck().map(check -> check.at().latest()).orElseThrow();
    }

    private static long until(SingleAcquireHistory one) {
        return last(one).at().earliest();
    }

    private static HistoryEvent last(SingleAcquireHistory one) {
        Optional<HistoryEvent.Checked> last = one.lastHeldCheck();
        return last.orElseThrow();
    }
}

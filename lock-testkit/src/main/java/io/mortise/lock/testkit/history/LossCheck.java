// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.testkit.history.UnreachablePeriods.Silence;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Checks that a running holder is notified of the loss of its lease in time.
 *
 * <p>Rule S7. Frozen holders whose lock was granted to another call are counted.
 */
final class LossCheck {
    private final SingleLockHistory lock;
    private final ViolationCollector findings;

    private LossCheck(SingleLockHistory lock, ViolationCollector findings) {
        this.lock = lock;
        this.findings = findings;
    }

    static void check(SingleLockHistory lock, ViolationCollector findings) {
        LossCheck check = new LossCheck(lock, findings);
        List<SingleAcquireHistory> granted = lock.granted;
        SingleAcquireHistory firstAfter = null; // of all newer grants, the one that was reported first
        for (int i = granted.size() - 1; i >= 0; i--) {
            SingleAcquireHistory one = granted.get(i);
            check.lostAndReleased(one);
            if (firstAfter != null) {
                check.overtaken(one, lock.isNewer(firstAfter, one) ? firstAfter : granted.get(i + 1));
            }
            if (firstAfter == null
                    || SingleLockHistory.latestGrantTime(one) < SingleLockHistory.latestGrantTime(firstAfter)) {
                firstAfter = one;
            }
        }
    }

    private void lostAndReleased(SingleAcquireHistory one) {
        if (one.released == null || one.released.outcome() != ReleaseOutcome.RELEASED) {
            return;
        }
        if (one.lossReported != null) {
            findings.violation("S7", "reported lost, and RELEASED", one.lossReported, one.released);
        } else if (one.notice()
                .filter(check -> one.releasing != null && check.at().isBefore(one.releasing.at()))
                .isPresent()) {
            findings.violation(
                    "S5",
                    "reported as not held, and then RELEASED",
                    one.notice().get(),
                    one.released);
        }
    }

    private void overtaken(SingleAcquireHistory one, SingleAcquireHistory next) {
        HistoryEvent.Granted nextGrant = Objects.requireNonNull(next.granted);
        boolean mayHaveReleased = one.releasing != null && !nextGrant.at().isBefore(one.releasing.at());
        if (mayHaveReleased || !isSuccessor(one, next)) {
            return;
        }
        recordStaleHolder(one, next, nextGrant);
        checkNotifiedInTime(one, nextGrant);
    }

    /** Tokens prove the order; without tokens the next lease must have been held after this one was granted. */
    private boolean isSuccessor(SingleAcquireHistory one, SingleAcquireHistory next) {
        if (lock.fenced) {
            return true;
        }
        UncertainInstant granted = Objects.requireNonNull(one.granted).at();
        return next.firstHeldCheck().map(check -> granted.isBefore(check.at())).orElse(false);
    }

    private void recordStaleHolder(
            SingleAcquireHistory one, SingleAcquireHistory next, HistoryEvent.Granted nextGrant) {
        Optional<Silence> freeze = lock.silences
                .pauses(one.process())
                .filter(pause -> pause.covers(nextGrant.at())
                        && Objects.requireNonNull(one.granted)
                                .at()
                                .isBefore(pause.from().at())
                        && one.notice()
                                .map(notice -> pause.from().at().isBefore(notice.at()))
                                .orElse(true))
                .findFirst();
        if (freeze.isPresent()) {
            long killed = lock.silences
                    .kill(one.process())
                    .map(kill -> kill.from().at().earliest())
                    .orElse(lock.end);
            long until = Math.min(
                    killed,
                    firstSignOfLoss(one).map(event -> event.at().earliest()).orElse(lock.end));
            long lasted = Math.max(0, until - nextGrant.at().latest());
            findings.staleHolders.add(new StaleHolderPeriod(one.call(), next.call(), Duration.ofNanos(lasted)));
        }
    }

    /** Returns the event by which the holder stopped using the lease: a notification of the loss, or its own release. */
    private static Optional<HistoryEvent> firstSignOfLoss(SingleAcquireHistory one) {
        Optional<HistoryEvent> notice = one.notice();
        boolean releasedFirst = one.releasing != null
                && notice.map(event ->
                                event.at().earliest() > one.releasing.at().earliest())
                        .orElse(true);
        return releasedFirst ? Optional.ofNullable(one.releasing) : notice;
    }

    private void checkNotifiedInTime(SingleAcquireHistory one, HistoryEvent.Granted nextGrant) {
        long notice = lock.limits.noticeWithin().toNanos();
        long by =
                Math.max(SingleLockHistory.latestGrantTime(one), nextGrant.at().latest()) + notice;
        for (Silence silence : lock.silences.of(one.process())) {
            // A dead or frozen process receives nothing until it is resumed. A broken link is no excuse, since the
            // process has
            // its own deadline.
            if ((silence.isKill() || silence.isPause()) && silence.from().at().earliest() <= by) {
                if (silence.end() == Long.MAX_VALUE) {
                    return;
                }
                by = Math.max(by, silence.end() + notice);
            }
        }
        Optional<HistoryEvent> firstSignOfLoss = firstSignOfLoss(one);
        if (firstSignOfLoss.isEmpty() && by < lock.end) {
            findings.violation("S7", "never notified of its loss", Objects.requireNonNull(one.granted), nextGrant);
        } else if (firstSignOfLoss.isPresent() && firstSignOfLoss.get().at().earliest() > by) {
            findings.violation("S7", "notified of its loss too late", nextGrant, firstSignOfLoss.get());
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.testkit.history.SilentPeriods.Silence;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Checks that a running holder is told of its loss before the next grant (S7). Frozen ones are counted. */
final class LossCheck {
    private final SingleLockHistory lock;
    private final ViolationCollector findings;

    private LossCheck(SingleLockHistory lock, ViolationCollector findings) {
        this.lock = lock;
        this.findings = findings;
    }

    static void check(SingleLockHistory lock, ViolationCollector findings) {
        LossCheck check = new LossCheck(lock, findings);
        List<RecordedCall> granted = lock.granted;
        RecordedCall firstAfter = null; // of all that are newer, the one whose grant was reported first
        for (int i = granted.size() - 1; i >= 0; i--) {
            RecordedCall one = granted.get(i);
            check.lostAndReleased(one);
            if (firstAfter != null) {
                check.overtaken(one, lock.isNewer(firstAfter, one) ? firstAfter : granted.get(i + 1));
            }
            if (firstAfter == null || SingleLockHistory.grantedBy(one) < SingleLockHistory.grantedBy(firstAfter)) {
                firstAfter = one;
            }
        }
    }

    private void lostAndReleased(RecordedCall one) {
        if (one.released == null || one.released.outcome() != ReleaseOutcome.RELEASED) {
            return;
        }
        if (one.told != null) {
            findings.violation("S7", "told of a loss, and RELEASED", one.told, one.released);
        } else if (one.notice()
                .filter(check -> one.releasing != null && check.at().isBefore(one.releasing.at()))
                .isPresent()) {
            findings.violation(
                    "S5", "seen to be over, and then RELEASED", one.notice().get(), one.released);
        }
    }

    private void overtaken(RecordedCall one, RecordedCall next) {
        HistoryEvent.Granted nextGrant = Objects.requireNonNull(next.granted);
        boolean mayHaveReleased = one.releasing != null && !nextGrant.at().isBefore(one.releasing.at());
        if (mayHaveReleased || !isSuccessor(one, next)) {
            return;
        }
        frozenBelief(one, next, nextGrant);
        toldInTime(one, nextGrant);
    }

    /** A token says so; without tokens the next one must have believed after this one was granted. */
    private boolean isSuccessor(RecordedCall one, RecordedCall next) {
        if (lock.fenced) {
            return true;
        }
        UncertainInstant granted = Objects.requireNonNull(one.granted).at();
        return next.firstBelief().map(check -> granted.isBefore(check.at())).orElse(false);
    }

    private void frozenBelief(RecordedCall one, RecordedCall next, HistoryEvent.Granted nextGrant) {
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
                    killed, learned(one).map(event -> event.at().earliest()).orElse(lock.end));
            long lasted = Math.max(0, until - nextGrant.at().latest());
            findings.wrongBeliefs.add(new StaleHolderPeriod(one.call(), next.call(), Duration.ofNanos(lasted)));
        }
    }

    /** What made it give up: a notice, or its own release. */
    private static Optional<HistoryEvent> learned(RecordedCall one) {
        Optional<HistoryEvent> notice = one.notice();
        boolean releasedFirst = one.releasing != null
                && notice.map(event ->
                                event.at().earliest() > one.releasing.at().earliest())
                        .orElse(true);
        return releasedFirst ? Optional.ofNullable(one.releasing) : notice;
    }

    private void toldInTime(RecordedCall one, HistoryEvent.Granted nextGrant) {
        long notice = lock.bounds.noticeWithin().toNanos();
        long by = Math.max(SingleLockHistory.grantedBy(one), nextGrant.at().latest()) + notice;
        for (Silence silence : lock.silences.of(one.process())) {
            // Dead, or frozen: it hears nothing until it goes on. A broken line excuses nothing, since the deadline is
            // its own.
            if ((silence.isKill() || silence.isPause()) && silence.from().at().earliest() <= by) {
                if (silence.end() == Long.MAX_VALUE) {
                    return;
                }
                by = Math.max(by, silence.end() + notice);
            }
        }
        Optional<HistoryEvent> learned = learned(one);
        if (learned.isEmpty() && by < lock.end) {
            findings.violation("S7", "never told of its loss", Objects.requireNonNull(one.granted), nextGrant);
        } else if (learned.isPresent() && learned.get().at().earliest() > by) {
            findings.violation("S7", "told of its loss too late", nextGrant, learned.get());
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import io.mortise.lock.testkit.history.UnreachablePeriods.Silence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.ToLongFunction;

/**
 * Checks that no lock stays free for long while a healthy process waits for it.
 *
 * <p>Rules S8 and S11. Also checks that every wait ends, in time if it has a limit (S9).
 */
final class WaiterProgressCheck {
    private final SingleLockHistory lock;
    private final ViolationCollector findings;
    private final UnresponsiveContenderCounter takeoverDelays;
    private final List<TimeInterval> taken;

    private WaiterProgressCheck(SingleLockHistory lock, ViolationCollector findings) {
        this.lock = lock;
        this.findings = findings;
        this.takeoverDelays = new UnresponsiveContenderCounter(lock);
        List<TimeInterval> held = new ArrayList<>();
        for (SingleAcquireHistory one : lock.granted) {
            long from = Objects.requireNonNull(one.granted).at().earliest();
            long to = one.leaseEnd().map(end -> end.at().latest()).orElse(lock.end);
            held.addAll(new TimeInterval(from, to).minus(certainlySilent(one)));
        }
        this.taken = TimeInterval.union(held);
    }

    static void check(SingleLockHistory lock, ViolationCollector findings) {
        WaiterProgressCheck check = new WaiterProgressCheck(lock, findings);
        lock.calls.forEach(check::outcome);
        lock.calls.forEach(check::waiting);
    }

    /** Returns the shortest possible periods in which the process could not communicate, when it may not have held the lock. */
    private List<TimeInterval> certainlySilent(SingleAcquireHistory one) {
        return silences(
                one,
                silence -> silence.from().at().latest(),
                until -> until.at().earliest());
    }

    /** Returns the longest possible periods in which the process could not communicate, including the time to recover. */
    private List<TimeInterval> possiblySilent(SingleAcquireHistory one) {
        Duration after = lock.limits.takeoverWithin();
        return silences(
                one,
                silence -> silence.from().at().earliest(),
                until -> until.at().later(after).latest());
    }

    private List<TimeInterval> silences(
            SingleAcquireHistory one, ToLongFunction<Silence> from, ToLongFunction<HistoryEvent.Disturbed> until) {
        return TimeInterval.union(lock.silences.of(one.process()).stream()
                .map(silence -> new TimeInterval(
                        from.applyAsLong(silence),
                        silence.until() == null ? Long.MAX_VALUE : until.applyAsLong(silence.until())))
                .toList());
    }

    private void outcome(SingleAcquireHistory one) {
        List<Silence> silences = lock.silences.of(one.process());
        if (one.outcome().isEmpty()) {
            if (silences.stream().allMatch(silence -> silence.until() != null)) {
                findings.violation("S9", "a wait that never ended", one.requested);
            }
            return;
        }
        UncertainInstant end = one.outcome().get().at();
        Duration limit =
                one.requested.limit().orElse(Duration.ZERO); // zero waits for one request, however long that takes
        long overshoot = end.earliest() - one.requested.at().latest() - limit.toNanos();
        if (!limit.isZero()
                && overshoot > lock.limits.overshootWithin().toNanos()
                && silences.stream()
                        .filter(Silence::isPause)
                        .noneMatch(pause -> overlaps(pause, one.requested.at(), end))) {
            findings.violation(
                    "S9",
                    "a wait that ended " + Duration.ofNanos(overshoot) + " after its limit",
                    one.requested,
                    one.outcome().get());
        }
    }

    private static boolean overlaps(Silence silence, UncertainInstant from, UncertainInstant to) {
        return silence.from().at().earliest() <= to.latest() && from.earliest() <= silence.end();
    }

    private void waiting(SingleAcquireHistory one) {
        if (one.gaveUp != null && one.gaveUp.failure().isPresent()) {
            return; // the call failed because the store was unreachable
        }
        long from = one.requested.at().latest();
        long to = one.outcome().map(event -> event.at().earliest()).orElse(lock.end);
        TimeInterval wait = new TimeInterval(from, Math.max(from, to));
        for (TimeInterval healthy : wait.minus(possiblySilent(one))) {
            healthy.minus(taken).forEach(free -> judge(one, free));
        }
    }

    private void judge(SingleAcquireHistory waiter, TimeInterval free) {
        findings.longestFree = Math.max(findings.longestFree, free.length());
        if (free.length() <= lock.limits.handOffWithin().toNanos()) {
            return;
        }
        Duration allowed = lock.limits
                .handOffWithin()
                .plus(lock.limits.takeoverWithin().multipliedBy(takeoverDelays.countDuring(free)));
        if (free.length() > allowed.toNanos()) {
            findings.violation(
                    mayBeOrphan(waiter, free) ? "S8" : "S11",
                    "free for " + Duration.ofNanos(free.length()) + " from " + free.from() + " on, at most " + allowed
                            + " allowed, while a process waited",
                    waiter.requested);
        }
    }

    /** Returns whether another waiter gave up since the last holder: an orphaned grant of that waiter may block the lock. */
    private boolean mayBeOrphan(SingleAcquireHistory waiter, TimeInterval free) {
        long freed = taken.stream()
                .mapToLong(TimeInterval::to)
                .filter(to -> to <= free.from())
                .max()
                .orElse(Long.MIN_VALUE);
        return lock.calls.stream()
                .filter(one -> one != waiter && one.gaveUp != null)
                .mapToLong(one -> one.requested.at().latest())
                .anyMatch(requested -> requested >= freed && requested <= free.to());
    }
}

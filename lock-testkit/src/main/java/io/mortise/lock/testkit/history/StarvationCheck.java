// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import io.mortise.lock.testkit.history.SilentPeriods.Silence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.ToLongFunction;

/**
 * Checks that a lock is not free for long while a healthy waiter waits (S8, S11). S9: every wait ends, by its limit if it has
 * one.
 */
final class StarvationCheck {
    private final SingleLockHistory lock;
    private final ViolationCollector findings;
    private final StaleContenders obstacles;
    private final List<TimeInterval> taken;

    private StarvationCheck(SingleLockHistory lock, ViolationCollector findings) {
        this.lock = lock;
        this.findings = findings;
        this.obstacles = new StaleContenders(lock);
        List<TimeInterval> held = new ArrayList<>();
        for (RecordedCall one : lock.granted) {
            long from = Objects.requireNonNull(one.granted).at().earliest();
            long to = one.over().map(over -> over.at().latest()).orElse(lock.end);
            held.addAll(new TimeInterval(from, to).minus(surelySilent(one)));
        }
        this.taken = TimeInterval.union(held);
    }

    static void check(SingleLockHistory lock, ViolationCollector findings) {
        StarvationCheck check = new StarvationCheck(lock, findings);
        lock.calls.forEach(check::outcome);
        lock.calls.forEach(check::waiting);
    }

    /** When it can hardly have been holding, at the least. */
    private List<TimeInterval> surelySilent(RecordedCall one) {
        return silences(
                one,
                silence -> silence.from().at().latest(),
                until -> until.at().earliest());
    }

    /** When it may have been out of reach of the store, at the most; it needs some time to come back. */
    private List<TimeInterval> perhapsSilent(RecordedCall one) {
        Duration after = lock.bounds.takeoverWithin();
        return silences(
                one,
                silence -> silence.from().at().earliest(),
                until -> until.at().later(after).latest());
    }

    private List<TimeInterval> silences(
            RecordedCall one, ToLongFunction<Silence> from, ToLongFunction<HistoryEvent.Disturbed> until) {
        return TimeInterval.union(lock.silences.of(one.process()).stream()
                .map(silence -> new TimeInterval(
                        from.applyAsLong(silence),
                        silence.until() == null ? Long.MAX_VALUE : until.applyAsLong(silence.until())))
                .toList());
    }

    private void outcome(RecordedCall one) {
        List<Silence> silences = lock.silences.of(one.process());
        if (one.outcome().isEmpty()) {
            if (silences.stream().allMatch(silence -> silence.until() != null)) {
                findings.violation("S9", "a wait that never ended", one.asked);
            }
            return;
        }
        UncertainInstant end = one.outcome().get().at();
        Duration limit = one.asked.limit().orElse(Duration.ZERO); // zero waits for one request, whatever that takes
        long over = end.earliest() - one.asked.at().latest() - limit.toNanos();
        if (!limit.isZero()
                && over > lock.bounds.overshootWithin().toNanos()
                && silences.stream()
                        .filter(Silence::isPause)
                        .noneMatch(pause -> overlaps(pause, one.asked.at(), end))) {
            findings.violation(
                    "S9",
                    "a wait that ended " + Duration.ofNanos(over) + " after its limit",
                    one.asked,
                    one.outcome().get());
        }
    }

    private static boolean overlaps(Silence silence, UncertainInstant from, UncertainInstant to) {
        return silence.from().at().earliest() <= to.latest() && from.earliest() <= silence.end();
    }

    private void waiting(RecordedCall one) {
        if (one.gaveUp != null && one.gaveUp.failure().isPresent()) {
            return; // it could not reach the store, and said so
        }
        long from = one.asked.at().latest();
        long to = one.outcome().map(event -> event.at().earliest()).orElse(lock.end);
        TimeInterval wait = new TimeInterval(from, Math.max(from, to));
        for (TimeInterval healthy : wait.minus(perhapsSilent(one))) {
            healthy.minus(taken).forEach(free -> judge(one, free));
        }
    }

    private void judge(RecordedCall waiter, TimeInterval free) {
        findings.longestFree = Math.max(findings.longestFree, free.length());
        if (free.length() <= lock.bounds.handOffWithin().toNanos()) {
            return;
        }
        Duration allowed =
                lock.bounds.handOffWithin().plus(lock.bounds.takeoverWithin().multipliedBy(obstacles.during(free)));
        if (free.length() > allowed.toNanos()) {
            findings.violation(
                    isForgotten(waiter, free) ? "S8" : "S11",
                    "free for " + Duration.ofNanos(free.length()) + " from " + free.from() + " on, at most " + allowed
                            + " allowed, while one waited",
                    waiter.asked);
        }
    }

    /** Whether somebody gave up, rather than held, before it was free: a grant of that one may be what blocks. */
    private boolean isForgotten(RecordedCall waiter, TimeInterval free) {
        long freed = taken.stream()
                .mapToLong(TimeInterval::to)
                .filter(to -> to <= free.from())
                .max()
                .orElse(Long.MIN_VALUE);
        return lock.calls.stream()
                .filter(one -> one != waiter && one.gaveUp != null)
                .mapToLong(one -> one.asked.at().latest())
                .anyMatch(asked -> asked >= freed && asked <= free.to());
    }
}

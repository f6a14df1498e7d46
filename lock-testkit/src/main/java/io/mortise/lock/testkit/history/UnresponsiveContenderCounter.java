// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import io.mortise.lock.testkit.history.UnreachablePeriods.Silence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The delays of the next grant of a lock that the checks allow, because unresponsive processes left grants and queue entries.
 */
final class UnresponsiveContenderCounter {
    /**
     * A period in which such contenders may delay the lock.
     *
     * @param contenders number of queue entries and grants, each of which may take one lease duration to expire
     */
    private record Delay(TimeInterval when, int contenders) {}

    private final List<Delay> delays = new ArrayList<>();

    UnresponsiveContenderCounter(SingleLockHistory lock) {
        Duration takeover = lock.limits.takeoverWithin();
        Map<String, List<SingleAcquireHistory>> byProcess =
                lock.calls.stream().collect(Collectors.groupingBy(SingleAcquireHistory::process));
        byProcess.forEach((process, calls) -> {
            List<TimeInterval> silent = new ArrayList<>();
            for (Silence silence : lock.silences.of(process)) {
                int open =
                        (int) calls.stream().filter(one -> isOpen(one, silence)).count();
                TimeInterval interval = interval(silence, takeover);
                silent.add(interval);
                // At least one: a request sent during the silence may reach the store at its end.
                delays.add(new Delay(interval, Math.max(1, open)));
            }
            calls.stream()
                    .filter(SingleAcquireHistory::mayHaveOrphan)
                    .flatMap(one -> one.end().stream())
                    .map(end -> new TimeInterval(
                            end.at().earliest(), end.at().later(takeover).latest()))
                    .filter(interval -> silent.stream().noneMatch(interval::touches)) // already counted
                    .forEach(interval -> delays.add(new Delay(interval, 1)));
        });
    }

    private static boolean isOpen(SingleAcquireHistory one, Silence silence) {
        UncertainInstant from = silence.from().at();
        return one.requested.at().earliest() <= from.latest()
                && one.end().map(end -> !end.at().isBefore(from)).orElse(true);
    }

    private static TimeInterval interval(Silence silence, Duration takeover) {
        long from = silence.from().at().earliest();
        if (silence.isKill()) {
            // Queue entries may outlive the process by one takeover time, and a grant to such an entry by another one.
            return new TimeInterval(
                    from, silence.from().at().later(takeover.multipliedBy(2)).latest());
        }
        long until = silence.until() == null
                ? Long.MAX_VALUE
                : silence.until().at().later(takeover).latest();
        return new TimeInterval(from, until);
    }

    int countDuring(TimeInterval interval) {
        return delays.stream()
                .filter(one -> one.when().touches(interval))
                .mapToInt(Delay::contenders)
                .sum();
    }
}

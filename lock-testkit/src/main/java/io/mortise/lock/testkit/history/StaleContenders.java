// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import io.mortise.lock.testkit.history.SilentPeriods.Silence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Grants and queue entries of silent and dead processes that may delay a lock. */
final class StaleContenders {
    /** @param contenders how many asks and grants it may be, each of which may cost a lease of its own */
    private record Obstacle(TimeInterval when, int contenders) {}

    private final List<Obstacle> obstacles = new ArrayList<>();

    StaleContenders(SingleLockHistory lock) {
        Duration takeover = lock.bounds.takeoverWithin();
        Map<String, List<RecordedCall>> byProcess =
                lock.calls.stream().collect(Collectors.groupingBy(RecordedCall::process));
        byProcess.forEach((process, calls) -> {
            List<TimeInterval> silent = new ArrayList<>();
            for (Silence silence : lock.silences.of(process)) {
                int open =
                        (int) calls.stream().filter(one -> isOpen(one, silence)).count();
                TimeInterval reach = reach(silence, takeover);
                silent.add(reach);
                // At least one: what it asked for during the silence may reach the store at its end.
                obstacles.add(new Obstacle(reach, Math.max(1, open)));
            }
            calls.stream()
                    .filter(RecordedCall::leavesRemains)
                    .flatMap(one -> one.end().stream())
                    .map(end -> new TimeInterval(
                            end.at().earliest(), end.at().later(takeover).latest()))
                    .filter(remains -> silent.stream().noneMatch(remains::touches)) // counted already
                    .forEach(remains -> obstacles.add(new Obstacle(remains, 1)));
        });
    }

    private static boolean isOpen(RecordedCall one, Silence silence) {
        UncertainInstant from = silence.from().at();
        return one.asked.at().earliest() <= from.latest()
                && one.end().map(end -> !end.at().isBefore(from)).orElse(true);
    }

    private static TimeInterval reach(Silence silence, Duration takeover) {
        long from = silence.from().at().earliest();
        if (silence.isKill()) {
            // Its places in a queue may outlive it by one takeover, and a grant to such a place by another.
            return new TimeInterval(
                    from, silence.from().at().later(takeover.multipliedBy(2)).latest());
        }
        long until = silence.until() == null
                ? Long.MAX_VALUE
                : silence.until().at().later(takeover).latest();
        return new TimeInterval(from, until);
    }

    int during(TimeInterval stretch) {
        return obstacles.stream()
                .filter(one -> one.when().touches(stretch))
                .mapToInt(Obstacle::contenders)
                .sum();
    }
}

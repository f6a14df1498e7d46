// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import io.mortise.lock.testkit.history.HistoryEvent.Disturbed;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The periods in which each process could not communicate with the store, because it was paused, disconnected or dead. */
final class UnreachablePeriods {
    /**
     * One such period of one process.
     *
     * @param from the event that began the period
     * @param until the event that ended the period; null if it did not end
     */
    record Silence(Disturbed from, @Nullable Disturbed until) {
        boolean isKill() {
            return from.kind() == Disturbed.Kind.KILLED;
        }

        /** Returns whether the process itself was stopped. */
        boolean isPause() {
            return from.kind() == Disturbed.Kind.PAUSED;
        }

        /** Returns whether the period certainly contains the instant. */
        boolean covers(UncertainInstant at) {
            return from.at().isBefore(at) && (until == null || at.isBefore(until.at()));
        }

        long end() {
            return until == null ? Long.MAX_VALUE : until.at().latest();
        }
    }

    private final Map<String, List<Silence>> byProcess = new HashMap<>();

    UnreachablePeriods(List<HistoryEvent> events) {
        Map<String, List<Disturbed>> disturbed = new HashMap<>();
        for (HistoryEvent event : events) {
            if (event instanceof Disturbed one) {
                disturbed
                        .computeIfAbsent(one.process(), name -> new ArrayList<>())
                        .add(one);
            }
        }
        disturbed.forEach((process, ofIt) -> {
            ofIt.sort(Comparator.comparingLong(event -> event.at().earliest()));
            byProcess.put(
                    process,
                    Stream.of(
                                    pairs(ofIt, Disturbed.Kind.PAUSED, Disturbed.Kind.RESUMED),
                                    pairs(ofIt, Disturbed.Kind.CUT, Disturbed.Kind.HEALED),
                                    pairs(ofIt, Disturbed.Kind.KILLED, null))
                            .flatMap(List::stream)
                            .toList());
        });
    }

    private static List<Silence> pairs(List<Disturbed> events, Disturbed.Kind from, Disturbed.@Nullable Kind until) {
        List<Silence> silences = new ArrayList<>();
        Disturbed begun = null;
        for (Disturbed event : events) {
            if (begun == null && event.kind() == from) {
                begun = event;
            } else if (begun != null && event.kind() == until) {
                silences.add(new Silence(begun, event));
                begun = null;
            }
        }
        if (begun != null) {
            silences.add(new Silence(begun, null));
        }
        return silences;
    }

    List<Silence> of(String process) {
        return byProcess.getOrDefault(process, List.of());
    }

    Stream<Silence> pauses(String process) {
        return of(process).stream().filter(Silence::isPause);
    }

    Optional<Silence> kill(String process) {
        return of(process).stream().filter(Silence::isKill).findFirst();
    }
}

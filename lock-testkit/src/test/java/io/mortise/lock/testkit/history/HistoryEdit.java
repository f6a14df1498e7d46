// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import io.mortise.lock.testkit.history.HistoryEvent.Disturbed;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/** Creates changed copies of a history, and selects random events to change. */
record HistoryEdit(List<HistoryEvent> events, Random random) {
    /** Two grants with consecutive tokens. */
    record Pair(HistoryEvent.Granted one, HistoryEvent.Granted next) {}

    <E extends HistoryEvent> List<E> all(Class<E> kind, Predicate<E> which) {
        return events.stream()
                .filter(kind::isInstance)
                .map(kind::cast)
                .filter(which)
                .toList();
    }

    <E extends HistoryEvent> Optional<E> any(Class<E> kind, Predicate<E> which) {
        List<E> all = all(kind, which);
        return all.isEmpty() ? Optional.empty() : Optional.of(all.get(random.nextInt(all.size())));
    }

    Optional<HistoryEvent.Granted> grant() {
        return any(HistoryEvent.Granted.class, one -> true);
    }

    <E extends HistoryEvent.OfCall> Optional<E> of(AcquireCallId call, Class<E> kind) {
        return all(kind, one -> one.call().equals(call)).stream().findFirst();
    }

    Optional<Pair> pair(Predicate<Pair> which) {
        List<HistoryEvent.Granted> sorted = all(HistoryEvent.Granted.class, one -> true).stream()
                .sorted(Comparator.comparingLong(one -> one.token().orElseThrow()))
                .toList();
        List<Pair> pairs = IntStream.range(1, sorted.size())
                .mapToObj(i -> new Pair(sorted.get(i - 1), sorted.get(i)))
                .filter(which)
                .toList();
        return pairs.isEmpty() ? Optional.empty() : Optional.of(pairs.get(random.nextInt(pairs.size())));
    }

    /** Returns whether the process was disturbed in one of these ways after the instant. */
    boolean isDisturbed(String process, UncertainInstant after, Disturbed.Kind... kinds) {
        return !all(
                        Disturbed.class,
                        one -> one.process().equals(process)
                                && List.of(kinds).contains(one.kind())
                                && after.isBefore(one.at()))
                .isEmpty();
    }

    long end() {
        return events.stream().mapToLong(event -> event.at().latest()).max().orElseThrow();
    }

    HistoryEdit with(HistoryEvent more) {
        List<HistoryEvent> all = new ArrayList<>(events);
        all.add(more);
        return new HistoryEdit(all, random);
    }

    HistoryEdit without(Predicate<HistoryEvent> which) {
        return new HistoryEdit(events.stream().filter(which.negate()).toList(), random);
    }

    HistoryEdit replace(HistoryEvent one, HistoryEvent by) {
        return without(one::equals).with(by);
    }

    HistoryEdit invert(HistoryEvent.Wrote write) {
        return replace(write, new HistoryEvent.Wrote(write.call(), write.at(), write.token(), !write.accepted()));
    }
}

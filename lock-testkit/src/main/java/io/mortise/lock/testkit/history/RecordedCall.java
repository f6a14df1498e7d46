// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import io.mortise.lock.ReleaseOutcome;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** All that a history tells of one call to acquire, from the request to the end of the lease. */
final class RecordedCall {
    final HistoryEvent.Asked asked;
    final HistoryEvent.@Nullable Granted granted;
    final HistoryEvent.@Nullable GaveUp gaveUp;
    final HistoryEvent.@Nullable Told told;
    final HistoryEvent.@Nullable Releasing releasing;
    final HistoryEvent.@Nullable Released released;
    private final List<HistoryEvent.Checked> checks;

    RecordedCall(AcquireCallId call, List<HistoryEvent.OfCall> events) {
        HistoryEvent.Asked ask = only(events, HistoryEvent.Asked.class, call);
        if (ask == null) {
            throw new IllegalArgumentException(
                    "a call that never asked: " + events.get(0).line());
        }
        asked = ask;
        granted = only(events, HistoryEvent.Granted.class, call);
        gaveUp = only(events, HistoryEvent.GaveUp.class, call);
        told = only(events, HistoryEvent.Told.class, call);
        // A release may be called again: the first call ends the lease.
        releasing = all(events, HistoryEvent.Releasing.class).stream()
                .min(Comparator.comparingLong(event -> event.at().earliest()))
                .orElse(null);
        released = all(events, HistoryEvent.Released.class).stream()
                .min(Comparator.comparingLong(event -> event.at().latest()))
                .orElse(null);
        checks = all(events, HistoryEvent.Checked.class);
        if (granted == null && (told != null || releasing != null || released != null || !checks.isEmpty())) {
            throw new IllegalArgumentException("a call without a grant has one: " + call);
        }
    }

    private static <E extends HistoryEvent> List<E> all(List<HistoryEvent.OfCall> events, Class<E> kind) {
        return new ArrayList<>(
                events.stream().filter(kind::isInstance).map(kind::cast).toList());
    }

    private static <E extends HistoryEvent> @Nullable E only(
            List<HistoryEvent.OfCall> events, Class<E> kind, AcquireCallId call) {
        List<E> found = all(events, kind);
        if (found.size() > 1) {
            throw new IllegalArgumentException(kind.getSimpleName() + " twice: " + call);
        }
        return found.isEmpty() ? null : found.get(0);
    }

    AcquireCallId call() {
        return asked.call();
    }

    String process() {
        return asked.process();
    }

    OptionalLong token() {
        return granted == null ? OptionalLong.empty() : granted.token();
    }

    /** The check that said "held" and ended first. */
    Optional<HistoryEvent.Checked> firstBelief() {
        return beliefs().min(Comparator.comparingLong(check -> check.at().latest()));
    }

    /** The check that said "held" and began last. */
    Optional<HistoryEvent.Checked> lastBelief() {
        return beliefs().max(Comparator.comparingLong(check -> check.at().earliest()));
    }

    Stream<HistoryEvent.Checked> beliefs() {
        return checks.stream().filter(HistoryEvent.Checked::held);
    }

    /** The first thing by which its program could know that it had lost the lease. */
    Optional<HistoryEvent> notice() {
        Stream<HistoryEvent> negatives =
                checks.stream().filter(check -> !check.held()).map(check -> check);
        return Stream.concat(negatives, Stream.ofNullable(told))
                .min(Comparator.comparingLong(event -> event.at().latest()));
    }

    /** The first thing after which it does not hold the lease for certain, a notice or the end of a release. */
    Optional<HistoryEvent> over() {
        return Stream.concat(notice().stream(), Stream.ofNullable(released))
                .min(Comparator.comparingLong(event -> event.at().latest()));
    }

    /** What became of the ask. */
    Optional<HistoryEvent> outcome() {
        return Optional.ofNullable(granted != null ? granted : gaveUp);
    }

    /** Whether the store may still keep something of it for a while, though nothing was done to its process. */
    boolean leavesRemains() {
        boolean failed = gaveUp != null && gaveUp.failure().isPresent();
        boolean unsure = released != null && released.outcome() != ReleaseOutcome.RELEASED;
        return failed || unsure || (released == null && notice().isPresent());
    }

    /** The last that is known of it: the end of its ask, or of its lease. */
    Optional<HistoryEvent> end() {
        return granted == null ? outcome() : over();
    }
}

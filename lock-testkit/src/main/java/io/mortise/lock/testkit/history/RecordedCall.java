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
    final Event.Asked asked;
    final Event.@Nullable Granted granted;
    final Event.@Nullable GaveUp gaveUp;
    final Event.@Nullable Told told;
    final Event.@Nullable Releasing releasing;
    final Event.@Nullable Released released;
    private final List<Event.Checked> checks;

    RecordedCall(LockCall call, List<Event.OfCall> events) {
        Event.Asked ask = only(events, Event.Asked.class, call);
        if (ask == null) {
            throw new IllegalArgumentException(
                    "a call that never asked: " + events.get(0).line());
        }
        asked = ask;
        granted = only(events, Event.Granted.class, call);
        gaveUp = only(events, Event.GaveUp.class, call);
        told = only(events, Event.Told.class, call);
        // A release may be called again: the first call ends the lease.
        releasing = all(events, Event.Releasing.class).stream()
                .min(Comparator.comparingLong(event -> event.at().earliest()))
                .orElse(null);
        released = all(events, Event.Released.class).stream()
                .min(Comparator.comparingLong(event -> event.at().latest()))
                .orElse(null);
        checks = all(events, Event.Checked.class);
        if (granted == null && (told != null || releasing != null || released != null || !checks.isEmpty())) {
            throw new IllegalArgumentException("a call without a grant has one: " + call);
        }
    }

    private static <E extends Event> List<E> all(List<Event.OfCall> events, Class<E> kind) {
        return new ArrayList<>(
                events.stream().filter(kind::isInstance).map(kind::cast).toList());
    }

    private static <E extends Event> @Nullable E only(List<Event.OfCall> events, Class<E> kind, LockCall call) {
        List<E> found = all(events, kind);
        if (found.size() > 1) {
            throw new IllegalArgumentException(kind.getSimpleName() + " twice: " + call);
        }
        return found.isEmpty() ? null : found.get(0);
    }

    LockCall call() {
        return asked.call();
    }

    String process() {
        return asked.process();
    }

    OptionalLong token() {
        return granted == null ? OptionalLong.empty() : granted.token();
    }

    /** The check that said "held" and ended first. */
    Optional<Event.Checked> firstBelief() {
        return beliefs().min(Comparator.comparingLong(check -> check.at().latest()));
    }

    /** The check that said "held" and began last. */
    Optional<Event.Checked> lastBelief() {
        return beliefs().max(Comparator.comparingLong(check -> check.at().earliest()));
    }

    Stream<Event.Checked> beliefs() {
        return checks.stream().filter(Event.Checked::held);
    }

    /** The first thing by which its program could know that it had lost the lease. */
    Optional<Event> notice() {
        Stream<Event> negatives = checks.stream().filter(check -> !check.held()).map(check -> check);
        return Stream.concat(negatives, Stream.ofNullable(told))
                .min(Comparator.comparingLong(event -> event.at().latest()));
    }

    /** The first thing after which it does not hold the lease for certain, a notice or the end of a release. */
    Optional<Event> over() {
        return Stream.concat(notice().stream(), Stream.ofNullable(released))
                .min(Comparator.comparingLong(event -> event.at().latest()));
    }

    /** What became of the ask. */
    Optional<Event> outcome() {
        return Optional.ofNullable(granted != null ? granted : gaveUp);
    }

    /** Whether the store may still keep something of it for a while, though nothing was done to its process. */
    boolean leavesRemains() {
        boolean failed = gaveUp != null && gaveUp.failure().isPresent();
        boolean unsure = released != null && released.outcome() != ReleaseOutcome.RELEASED;
        return failed || unsure || (released == null && notice().isPresent());
    }

    /** The last that is known of it: the end of its ask, or of its lease. */
    Optional<Event> end() {
        return granted == null ? outcome() : over();
    }
}

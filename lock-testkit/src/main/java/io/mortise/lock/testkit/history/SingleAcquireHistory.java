// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import io.mortise.lock.ReleaseOutcome;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** All recorded events of one acquire call, from the request to the end of its lease. */
final class SingleAcquireHistory {
    final HistoryEvent.Requested requested;
    final HistoryEvent.@Nullable Granted granted;
    final HistoryEvent.@Nullable GaveUp gaveUp;
    final HistoryEvent.@Nullable LossReported lossReported;
    final HistoryEvent.@Nullable Releasing releasing;
    final HistoryEvent.@Nullable Released released;
    private final List<HistoryEvent.Checked> checks;

    SingleAcquireHistory(AcquireCallId call, List<HistoryEvent.OfCall> events) {
        HistoryEvent.Requested request = only(events, HistoryEvent.Requested.class, call);
        if (request == null) {
            throw new IllegalArgumentException(
                    "a call without a request: " + events.get(0).line());
        }
        requested = request;
        granted = only(events, HistoryEvent.Granted.class, call);
        gaveUp = only(events, HistoryEvent.GaveUp.class, call);
        lossReported = only(events, HistoryEvent.LossReported.class, call);
        // A release may be called several times; the first one ends the lease.
        releasing = all(events, HistoryEvent.Releasing.class).stream()
                .min(Comparator.comparingLong(event -> event.at().earliest()))
                .orElse(null);
        released = all(events, HistoryEvent.Released.class).stream()
                .min(Comparator.comparingLong(event -> event.at().latest()))
                .orElse(null);
        checks = all(events, HistoryEvent.Checked.class);
        if (granted == null && (lossReported != null || releasing != null || released != null || !checks.isEmpty())) {
            throw new IllegalArgumentException("events of a lease without a grant: " + call);
        }
    }

    private static <E extends HistoryEvent> List<E> all(List<HistoryEvent.OfCall> events, Class<E> kind) {
        return events.stream().filter(kind::isInstance).map(kind::cast).toList();
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
        return requested.call();
    }

    String process() {
        return requested.process();
    }

    OptionalLong token() {
        return granted == null ? OptionalLong.empty() : granted.token();
    }

    /** Returns the check with the result "held" that ended first. */
    Optional<HistoryEvent.Checked> firstHeldCheck() {
        return heldChecks().min(Comparator.comparingLong(check -> check.at().latest()));
    }

    /** Returns the check with the result "held" that began last. */
    Optional<HistoryEvent.Checked> lastHeldCheck() {
        return heldChecks().max(Comparator.comparingLong(check -> check.at().earliest()));
    }

    Stream<HistoryEvent.Checked> heldChecks() {
        return checks.stream().filter(HistoryEvent.Checked::held);
    }

    /** Returns the first event by which the program could detect that the lease was lost. */
    Optional<HistoryEvent> notice() {
        Stream<HistoryEvent> negatives =
                checks.stream().filter(check -> !check.held()).map(check -> check);
        return Stream.concat(negatives, Stream.ofNullable(lossReported))
                .min(Comparator.comparingLong(event -> event.at().latest()));
    }

    /**
     * Returns the first event after which the lease was certainly not held: a notification of the loss, or the end of a
     * release.
     */
    Optional<HistoryEvent> leaseEnd() {
        return Stream.concat(notice().stream(), Stream.ofNullable(released))
                .min(Comparator.comparingLong(event -> event.at().latest()));
    }

    /** Returns the event that ended the wait, a grant or a failure; empty if there is none. */
    Optional<HistoryEvent> outcome() {
        return Optional.ofNullable(granted != null ? granted : gaveUp);
    }

    /** Returns whether an orphan of this call may remain in the store for a while, even if its process was not disturbed. */
    boolean mayHaveOrphan() {
        boolean failed = gaveUp != null && gaveUp.failure().isPresent();
        boolean uncertain = released != null && released.outcome() != ReleaseOutcome.RELEASED;
        return failed || uncertain || (released == null && notice().isPresent());
    }

    /** Returns the last event of the call: the end of its wait, or of its lease. */
    Optional<HistoryEvent> end() {
        return granted == null ? outcome() : leaseEnd();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

/** The recorded events of one lock, grouped by acquire call and sorted in the order of the grants. */
final class SingleLockHistory {
    final List<SingleAcquireHistory> calls;
    final List<HistoryEvent.Wrote> writes;
    final UnreachablePeriods silences;

    /** The time at which the last event of the history ended. */
    final long end;

    final HistoryCheckTolerances limits;

    /** The calls that were granted, the oldest grant first as far as the order is known. */
    final List<SingleAcquireHistory> granted;

    /** Whether each grant has a token. */
    final boolean fenced;

    private final HighestEarlierEntryIndex<SingleAcquireHistory> newestGrant;

    SingleLockHistory(
            List<HistoryEvent.OfCall> events, UnreachablePeriods silences, long end, HistoryCheckTolerances limits) {
        Map<AcquireCallId, List<HistoryEvent.OfCall>> byCall = events.stream()
                .filter(event -> !(event instanceof HistoryEvent.Wrote))
                .collect(Collectors.groupingBy(HistoryEvent.OfCall::call, LinkedHashMap::new, Collectors.toList()));
        this.calls = byCall.entrySet().stream()
                .map(call -> new SingleAcquireHistory(call.getKey(), call.getValue()))
                .toList();
        this.writes = events.stream()
                .filter(HistoryEvent.Wrote.class::isInstance)
                .map(HistoryEvent.Wrote.class::cast)
                .toList();
        this.silences = silences;
        this.end = end;
        this.limits = limits;
        List<SingleAcquireHistory> grants =
                calls.stream().filter(one -> one.granted != null).toList();
        this.fenced = grants.stream().allMatch(one -> one.token().isPresent());
        this.granted = grants.stream()
                .sorted(Comparator.comparingLong(this::order).thenComparingLong(SingleLockHistory::latestGrantTime))
                .toList();
        this.newestGrant = new HighestEarlierEntryIndex<>(
                granted,
                SingleLockHistory::latestGrantTime,
                fenced ? this::order : one -> one.requested.at().earliest());
    }

    /**
     * Returns the sort key of a grant: its token, or else its first check, since a grant may be reported long after it was
     * made.
     */
    private long order(SingleAcquireHistory one) {
        return fenced
                ? one.token().orElseThrow()
                : one.firstHeldCheck().map(check -> check.at().earliest()).orElse(latestGrantTime(one));
    }

    static long latestGrantTime(SingleAcquireHistory one) {
        return Objects.requireNonNull(one.granted).at().latest();
    }

    /**
     * Returns a grant that is certainly newer than this one and was returned before {@code instant}. Tokens determine which
     * grant is newer; without tokens, the other call must have started after this one was granted.
     */
    Optional<SingleAcquireHistory> findNewerGrant(SingleAcquireHistory one, long instant) {
        return newestGrant.before(instant).filter(other -> isNewer(other, one));
    }

    boolean isNewer(SingleAcquireHistory other, SingleAcquireHistory one) {
        if (!fenced) {
            return latestGrantTime(one) < other.requested.at().earliest();
        }
        // Tokens in the wrong order are a separate violation, and must not be used to order grants.
        boolean contradicted =
                Objects.requireNonNull(other.granted).at().isBefore(one.requested.at()) || heldEarlier(other, one);
        return order(other) > order(one) && !contradicted;
    }

    /**
     * Returns whether the first lease's last check ended before the second lease's first check, and the second was not granted
     * first.
     */
    static boolean heldEarlier(SingleAcquireHistory first, SingleAcquireHistory then) {
        return first.lastHeldCheck().isPresent()
                && then.firstHeldCheck().isPresent()
                && first.lastHeldCheck()
                        .get()
                        .at()
                        .isBefore(then.firstHeldCheck().get().at())
                && !Objects.requireNonNull(then.granted)
                        .at()
                        .isBefore(Objects.requireNonNull(first.granted).at());
    }

    /** Returns how often the next grant was to another process. */
    long handOffs() {
        long count = 0;
        for (int i = 1; i < granted.size(); i++) {
            count += granted.get(i).process().equals(granted.get(i - 1).process()) ? 0 : 1;
        }
        return count;
    }
}

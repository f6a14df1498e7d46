// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

/** History of one lock, in the form that the checks need. */
final class SingleLockHistory {
    final List<RecordedCall> calls;
    final List<HistoryEvent.Wrote> writes;
    final SilentPeriods silences;

    /** When the last event had ended. */
    final long end;

    final HistoryTimeLimits bounds;

    /** Those granted, the oldest grant first as far as it can be known. */
    final List<RecordedCall> granted;

    /** Whether each grant has a token. */
    final boolean fenced;

    private final HighestBefore<RecordedCall> newestGrant;

    SingleLockHistory(List<HistoryEvent.OfCall> events, SilentPeriods silences, long end, HistoryTimeLimits bounds) {
        Map<AcquireCallId, List<HistoryEvent.OfCall>> byCall = events.stream()
                .filter(event -> !(event instanceof HistoryEvent.Wrote))
                .collect(Collectors.groupingBy(HistoryEvent.OfCall::call, LinkedHashMap::new, Collectors.toList()));
        this.calls = byCall.entrySet().stream()
                .map(call -> new RecordedCall(call.getKey(), call.getValue()))
                .toList();
        this.writes = events.stream()
                .filter(HistoryEvent.Wrote.class::isInstance)
                .map(HistoryEvent.Wrote.class::cast)
                .toList();
        this.silences = silences;
        this.end = end;
        this.bounds = bounds;
        List<RecordedCall> grants =
                calls.stream().filter(one -> one.granted != null).toList();
        this.fenced = grants.stream().allMatch(one -> one.token().isPresent());
        this.granted = grants.stream()
                .sorted(Comparator.comparingLong(this::age).thenComparingLong(SingleLockHistory::grantedBy))
                .toList();
        this.newestGrant = new HighestBefore<>(
                granted,
                SingleLockHistory::grantedBy,
                fenced ? this::age : one -> one.asked.at().earliest());
    }

    /** Without tokens the order of the first beliefs: a grant may be reported long after it was made. */
    private long age(RecordedCall one) {
        return fenced
                ? one.token().orElseThrow()
                : one.firstBelief().map(check -> check.at().earliest()).orElse(grantedBy(one));
    }

    static long grantedBy(RecordedCall one) {
        return Objects.requireNonNull(one.granted).at().latest();
    }

    /**
     * A grant that came after this one for certain, and was returned before {@code instant}. By tokens; without them only
     * where the other had not even asked when this one was granted.
     */
    Optional<RecordedCall> overtakenBy(RecordedCall one, long instant) {
        return newestGrant.before(instant).filter(other -> isNewer(other, one));
    }

    boolean isNewer(RecordedCall other, RecordedCall one) {
        if (!fenced) {
            return grantedBy(one) < other.asked.at().earliest();
        }
        // Tokens in the wrong order are a fault of their own, and no measure for anything else.
        boolean misled = Objects.requireNonNull(other.granted).at().isBefore(one.asked.at()) || cameEarlier(other, one);
        return age(other) > age(one) && !misled;
    }

    /** Whether one was through with believing before the other began to, and was not merely overtaken before it checked. */
    static boolean cameEarlier(RecordedCall first, RecordedCall then) {
        return first.lastBelief().isPresent()
                && then.firstBelief().isPresent()
                && first.lastBelief()
                        .get()
                        .at()
                        .isBefore(then.firstBelief().get().at())
                && !Objects.requireNonNull(then.granted)
                        .at()
                        .isBefore(Objects.requireNonNull(first.granted).at());
    }

    /** How often the next grant went to another process. */
    long handOffs() {
        long count = 0;
        for (int i = 1; i < granted.size(); i++) {
            count += granted.get(i).process().equals(granted.get(i - 1).process()) ? 0 : 1;
        }
        return count;
    }
}

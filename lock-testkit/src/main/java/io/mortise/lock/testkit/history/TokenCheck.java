// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Checks that fencing tokens are unique and increase, and that resources reject writes with stale tokens. Rule S3. */
final class TokenCheck {
    private final SingleLockHistory lock;
    private final ViolationCollector findings;

    private TokenCheck(SingleLockHistory lock, ViolationCollector findings) {
        this.lock = lock;
        this.findings = findings;
    }

    static void check(SingleLockHistory lock, ViolationCollector findings) {
        if (lock.fenced) {
            TokenCheck check = new TokenCheck(lock, findings);
            check.distinct();
            check.increasing();
            check.writes();
        }
    }

    private void distinct() {
        Map<Long, SingleAcquireHistory> seen = new HashMap<>();
        for (SingleAcquireHistory one : lock.granted) {
            SingleAcquireHistory other = seen.putIfAbsent(token(one), one);
            if (other != null) {
                findings.violation("S3", "two grants with the same token", granted(other), granted(one));
            }
        }
    }

    /** A grant is earlier if it was returned before the other call started, or if its lease was held only before the other. */
    private void increasing() {
        HighestEarlierEntryIndex<SingleAcquireHistory> byGrant =
                new HighestEarlierEntryIndex<>(lock.granted, SingleLockHistory::latestGrantTime, TokenCheck::token);
        List<SingleAcquireHistory> holders = lock.granted.stream()
                .filter(one -> one.firstHeldCheck().isPresent())
                .toList();
        HighestEarlierEntryIndex<SingleAcquireHistory> byHeldCheck = new HighestEarlierEntryIndex<>(
                holders, one -> one.lastHeldCheck().orElseThrow().at().latest(), TokenCheck::token);
        for (SingleAcquireHistory one : lock.granted) {
            byGrant.before(one.requested.at().earliest())
                    .filter(earlier -> token(earlier) > token(one))
                    .or(() -> one.firstHeldCheck()
                            .flatMap(check -> byHeldCheck.before(check.at().earliest()))
                            .filter(earlier ->
                                    token(earlier) > token(one) && SingleLockHistory.heldEarlier(earlier, one)))
                    .ifPresent(earlier -> findings.violation(
                            "S3", "a token below that of an earlier grant", granted(earlier), granted(one)));
        }
    }

    private void writes() {
        List<HistoryEvent.Wrote> accepted =
                lock.writes.stream().filter(HistoryEvent.Wrote::accepted).toList();
        HighestEarlierEntryIndex<HistoryEvent.Wrote> certainlyBefore =
                new HighestEarlierEntryIndex<>(accepted, write -> write.at().latest(), HistoryEvent.Wrote::token);
        HighestEarlierEntryIndex<HistoryEvent.Wrote> possiblyBefore =
                new HighestEarlierEntryIndex<>(accepted, write -> write.at().earliest(), HistoryEvent.Wrote::token);
        for (HistoryEvent.Wrote write : lock.writes) {
            if (write.accepted()) {
                certainlyBefore
                        .before(write.at().earliest())
                        .filter(earlier -> earlier.token() > write.token())
                        .ifPresent(earlier -> findings.violation(
                                "S3", "a write accepted after one with a higher token", earlier, write));
            } else if (possiblyBefore
                    .before(write.at().latest())
                    .filter(earlier -> earlier.token() > write.token())
                    .isEmpty()) {
                findings.violation("S3", "a write rejected though none had a higher token", write);
            }
        }
    }

    private static long token(SingleAcquireHistory one) {
        return one.token().orElseThrow();
    }

    private static HistoryEvent granted(SingleAcquireHistory one) {
        return Objects.requireNonNull(one.granted);
    }
}

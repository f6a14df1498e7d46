// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Checks that tokens are unique and rise with the grants, and that resources refuse lower ones (S3). */
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
            check.rising();
            check.writes();
        }
    }

    private void distinct() {
        Map<Long, RecordedCall> seen = new HashMap<>();
        for (RecordedCall one : lock.granted) {
            RecordedCall other = seen.putIfAbsent(token(one), one);
            if (other != null) {
                findings.violation("S3", "a token given twice", granted(other), granted(one));
            }
        }
    }

    /** Granted before the other asked, or believed before the other did: either way it came first. */
    private void rising() {
        HighestBefore<RecordedCall> byGrant =
                new HighestBefore<>(lock.granted, SingleLockHistory::grantedBy, TokenCheck::token);
        List<RecordedCall> believers = lock.granted.stream()
                .filter(one -> one.firstBelief().isPresent())
                .toList();
        HighestBefore<RecordedCall> byBelief = new HighestBefore<>(
                believers, one -> one.lastBelief().orElseThrow().at().latest(), TokenCheck::token);
        for (RecordedCall one : lock.granted) {
            byGrant.before(one.asked.at().earliest())
                    .filter(earlier -> token(earlier) > token(one))
                    .or(() -> one.firstBelief()
                            .flatMap(check -> byBelief.before(check.at().earliest()))
                            .filter(earlier ->
                                    token(earlier) > token(one) && SingleLockHistory.cameEarlier(earlier, one)))
                    .ifPresent(earlier -> findings.violation(
                            "S3", "a token below that of an earlier grant", granted(earlier), granted(one)));
        }
    }

    private void writes() {
        List<HistoryEvent.Wrote> accepted =
                lock.writes.stream().filter(HistoryEvent.Wrote::accepted).toList();
        HighestBefore<HistoryEvent.Wrote> surely =
                new HighestBefore<>(accepted, write -> write.at().latest(), HistoryEvent.Wrote::token);
        HighestBefore<HistoryEvent.Wrote> maybe =
                new HighestBefore<>(accepted, write -> write.at().earliest(), HistoryEvent.Wrote::token);
        for (HistoryEvent.Wrote write : lock.writes) {
            if (write.accepted()) {
                surely.before(write.at().earliest())
                        .filter(earlier -> earlier.token() > write.token())
                        .ifPresent(earlier -> findings.violation(
                                "S3", "a write accepted after one with a higher token", earlier, write));
            } else if (maybe.before(write.at().latest())
                    .filter(earlier -> earlier.token() > write.token())
                    .isEmpty()) {
                findings.violation("S3", "a write refused though none had a higher token", write);
            }
        }
    }

    private static long token(RecordedCall one) {
        return one.token().orElseThrow();
    }

    private static HistoryEvent granted(RecordedCall one) {
        return Objects.requireNonNull(one.granted);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof;

import io.mortise.lock.spi.LeaseStore.Answer;
import io.mortise.lock.spi.LeaseStore.Grant;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.OwnerRecordCodec;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/** An in-memory table with one row per lock, which stands in for a database table. */
final class InMemoryLockTable {
    private record Row(Grant grant, String ownerRecord, long token, long until) {
        boolean hasEnded() {
            return until - System.nanoTime() <= 0;
        }
    }

    private final Map<LockName, Row> rows = new HashMap<>(); // guarded by this
    private long tokens; // guarded by this
    private long requests; // guarded by this

    synchronized Answer tryAcquire(LockName name, String ownerRecord, Duration lease) {
        requests++;
        Row row = rows.get(name);
        if (row == null || row.hasEnded()) {
            Grant grant =
                    new Grant(name, OwnerRecordCodec.attemptId(ownerRecord).orElseThrow());
            row = new Row(grant, ownerRecord, ++tokens, System.nanoTime() + lease.toNanos());
            rows.put(name, row);
        }
        return ownerRecord.startsWith(row.grant.attemptId())
                ? new Answer.Token(row.token)
                : new Answer.HeldBy(row.ownerRecord);
    }

    synchronized Set<Grant> renew(Collection<Grant> grants, Duration lease) {
        Set<Grant> removed = new LinkedHashSet<>();
        for (Grant grant : grants) {
            Row row = rows.get(grant.name());
            if (row == null || !row.grant.equals(grant) || row.hasEnded()) {
                removed.add(grant);
            } else {
                rows.put(grant.name(), new Row(grant, row.ownerRecord, row.token, System.nanoTime() + lease.toNanos()));
            }
        }
        return removed;
    }

    synchronized boolean release(Grant grant) {
        requests++;
        Row row = rows.get(grant.name());
        return row != null && row.grant.equals(grant) && rows.remove(grant.name(), row) && !row.hasEnded();
    }

    /** Deletes the row of a lock, as an operator does. */
    synchronized void delete(LockName name) {
        rows.remove(name);
    }

    /** Ends the grants as if they had expired. */
    synchronized void expire(Set<Grant> grants) {
        rows.values().removeIf(row -> grants.contains(row.grant));
    }

    /** Returns the number of requests so far, without renewals. */
    synchronized long requests() {
        return requests;
    }
}

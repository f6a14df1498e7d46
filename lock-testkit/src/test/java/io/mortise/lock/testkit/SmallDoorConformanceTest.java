// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import io.mortise.lock.spi.LeaseStore;
import io.mortise.lock.spi.LeaseStoreBackend;
import io.mortise.lock.spi.LockClients;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.OwnerRecord;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The contract for a backend that came through the small door and claims little: what a third party begins with. It has no
 * operator's view and no faults, so many rules are reported as not verified here.
 */
class SmallDoorConformanceTest extends LockConformance {
    @Override
    protected BackendUnderTest backend() {
        Table table = new Table();
        return options -> LockClients.over(context -> new LeaseStoreBackend(table, context), options);
    }

    /** A table with one row per lock, as a database would have it. */
    private static final class Table implements LeaseStore {
        private record Row(Grant grant, String ownerRecord, long token, long until) {}

        private final Map<LockName, Row> rows = new HashMap<>(); // guarded by this
        private long tokens; // guarded by this

        @Override
        public synchronized CompletionStage<Answer> tryAcquire(LockName name, String ownerRecord, Duration lease) {
            String attemptId = OwnerRecord.attemptId(ownerRecord).orElseThrow();
            Row row = rows.get(name);
            boolean free = row == null || row.until - System.nanoTime() <= 0;
            if (row == null || free) {
                row = new Row(new Grant(name, attemptId), ownerRecord, ++tokens, System.nanoTime() + lease.toNanos());
                rows.put(name, row);
            }
            return CompletableFuture.completedFuture(
                    row.grant.attemptId().equals(attemptId)
                            ? new Answer.Token(row.token)
                            : new Answer.HeldBy(row.ownerRecord));
        }

        @Override
        public synchronized CompletionStage<Set<Grant>> renew(Collection<Grant> grants, Duration lease) {
            Set<Grant> gone = new LinkedHashSet<>();
            for (Grant grant : grants) {
                Row row = rows.get(grant.name());
                if (row == null || !row.grant.equals(grant) || row.until - System.nanoTime() <= 0) {
                    gone.add(grant);
                } else {
                    long until = System.nanoTime() + lease.toNanos();
                    rows.put(grant.name(), new Row(grant, row.ownerRecord, row.token, until));
                }
            }
            return CompletableFuture.completedFuture(gone);
        }

        @Override
        public synchronized CompletionStage<Boolean> release(Grant grant) {
            Row row = rows.get(grant.name());
            boolean ours = row != null && row.grant.equals(grant);
            if (ours) {
                rows.remove(grant.name());
            }
            return CompletableFuture.completedFuture(ours);
        }

        @Override
        public String endpoints() {
            return "a table in memory";
        }

        @Override
        public void close() {}
    }
}

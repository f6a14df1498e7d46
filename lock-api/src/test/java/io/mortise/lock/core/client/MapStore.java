// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.client;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.spi.LeaseStore;
import io.mortise.lock.spi.ListableLeaseStore;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.OwnerRecordCodec;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * A minimal {@link LeaseStore} on a map, which can stop responding and lose replies. It is written as a third party might write
 * its first store.
 */
public final class MapStore implements LeaseStore {
    record Row(String attempt, String record, long token, long expiresAt) {}

    public final Map<LockName, Row> rows = new ConcurrentHashMap<>();
    public final AtomicLong requests = new AtomicLong();
    volatile boolean hung;
    /** The name of a lock for which acquires have no reply, as if another transaction kept its row; empty for none. */
    volatile String hungName = "";

    /** Whether all stages complete with null, and no request is executed. */
    volatile boolean returnsNull;
    /** Whether the store clears collections that it receives as arguments. */
    volatile boolean clearsArguments;
    /** The delay with which acquires execute; if it is not zero, their replies are lost. */
    volatile Duration executionDelay = Duration.ZERO;

    /** The delay with which the renewals that are sent now execute and are replied to. */
    volatile Duration renewalDelay = Duration.ZERO;

    private final AtomicLong tokens = new AtomicLong();
    private final LockClock clock;

    public MapStore(LockClock clock) {
        this.clock = clock;
    }

    private <T> CompletionStage<T> answer(Supplier<T> request) {
        requests.incrementAndGet();
        if (hung) {
            return new CompletableFuture<>();
        }
        if (returnsNull) {
            return CompletableFuture.completedFuture(null);
        }
        return CompletableFuture.completedFuture(request.get());
    }

    @Override
    public CompletionStage<Answer> tryAcquire(LockName name, String ownerRecord, Duration lease) {
        Supplier<Answer> request = () -> {
            String attempt = OwnerRecordCodec.attemptId(ownerRecord).orElseThrow();
            long now = clock.now().nanos();
            Row row = rows.compute(
                    name,
                    (n, old) -> old != null && old.expiresAt() - now > 0
                            ? old
                            : new Row(attempt, ownerRecord, tokens.incrementAndGet(), now + lease.toNanos()));
            return row.attempt().equals(attempt) ? new Answer.Token(row.token()) : new Answer.HeldBy(row.record());
        };
        if (!executionDelay.isZero()) {
            clock.schedule(executionDelay, () -> CompletableFuture.completedFuture(request.get()));
            return CompletableFuture.failedFuture(new BackendUnavailableException("the reply was lost"));
        }
        return name.value().equals(hungName) ? new CompletableFuture<>() : answer(request);
    }

    @Override
    public CompletionStage<Set<Grant>> renew(Collection<Grant> grants, Duration lease) {
        if (!renewalDelay.isZero()) {
            CompletableFuture<Set<Grant>> reply = new CompletableFuture<>();
            Set<Grant> all = Set.copyOf(grants);
            clock.schedule(renewalDelay, () -> renewNow(all, lease).thenAccept(reply::complete));
            return reply;
        }
        return renewNow(grants, lease);
    }

    private CompletionStage<Set<Grant>> renewNow(Collection<Grant> grants, Duration lease) {
        return answer(() -> {
            long now = clock.now().nanos();
            Set<Grant> removed = new HashSet<>(grants);
            for (Grant grant : grants) {
                rows.computeIfPresent(grant.name(), (n, row) -> {
                    if (row.attempt().equals(grant.attemptId()) && row.expiresAt() - now > 0) {
                        removed.remove(grant);
                        return new Row(row.attempt(), row.record(), row.token(), now + lease.toNanos());
                    }
                    return row;
                });
            }
            if (clearsArguments) {
                try {
                    grants.clear();
                } catch (UnsupportedOperationException e) {
                    return removed;
                }
            }
            return removed;
        });
    }

    @Override
    public CompletionStage<Boolean> release(Grant grant) {
        return answer(() -> {
            boolean[] was = new boolean[1];
            long now = clock.now().nanos();
            rows.computeIfPresent(grant.name(), (n, row) -> {
                boolean ours = row.attempt().equals(grant.attemptId());
                was[0] = ours && row.expiresAt() - now > 0;
                return ours ? null : row;
            });
            return was[0];
        });
    }

    /** Returns the grants that have not ended, in no order. */
    List<ListableLeaseStore.StoredGrant> grants() {
        long now = clock.now().nanos();
        return rows.entrySet().stream()
                .filter(row -> row.getValue().expiresAt() - now > 0)
                .map(row -> new ListableLeaseStore.StoredGrant(
                        row.getKey(), row.getValue().record(), row.getValue().token()))
                .toList();
    }

    @Override
    public String endpoints() {
        return "map:1";
    }

    @Override
    public void close() {}
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Capability;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockException;
import io.mortise.lock.internal.DurationLimits;
import io.mortise.lock.spi.LeaseStore.Grant;
import io.mortise.lock.spi.support.BoundedCloseWait;
import io.mortise.lock.spi.support.StageFailures;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Adapts a {@link LeaseStore} to the full SPI by polling.
 *
 * <p>One contender per process and lock retries after a short pause. Such a store cannot reject a request that executes late,
 * that is, after the withdrawal. So after a request without a response, the adapter repeatedly releases the grant that the
 * request may have created, for one lease duration. A client that closes waits for these cleanups within its own limit, and
 * names the unfinished ones in the log. A request that executes even later creates a grant without an owner, which stays until
 * its lease ends.
 *
 * <p>If the store is a {@link ListableLeaseStore}, the backend has a {@link LockAdmin} and the capabilities for it.
 */
public final class LeaseStoreBackend implements LockBackend {
    /** The lease duration if neither the application nor the store sets one. */
    public static final Duration DEFAULT_LEASE = Duration.ofSeconds(30);

    /** The most grants in one call of {@link LeaseStore#renew}, which must end within a request timeout. */
    private static final int LARGEST_BATCH = 100;

    /** The most calls for the grants of calls that failed: each grant has its own, unless that would multiply the requests. */
    private static final int MOST_PARTS = 100;

    private final LeaseStore store;
    private final BackendContext context;

    /**
     * Creates a backend, which closes the store when it is closed.
     *
     * @param store the store, already contacted
     * @param context the services of the client
     */
    public LeaseStoreBackend(LeaseStore store, BackendContext context) {
        this.store = store;
        this.context = context;
    }

    @Override
    public String endpoints() {
        try {
            return store.endpoints();
        } catch (Throwable e) { // in some languages a method may throw any exception
            return "unknown (" + e + ")";
        }
    }

    @Override
    public String kind() {
        return store.kind();
    }

    @Override
    public Set<Capability> capabilities() {
        Set<Capability> offered = EnumSet.of(Capability.FENCING, Capability.CRASH_RELEASE, Capability.PER_LOCK_LEASE);
        if (store instanceof ListableLeaseStore) {
            offered.addAll(Set.of(Capability.HOLDER_INFO, Capability.LIST));
        }
        if (store.hasClock()) {
            offered.add(Capability.DELAYED_RELEASE);
        }
        return offered;
    }

    @Override
    public Duration leaseDuration(Optional<Duration> requested) {
        Duration lease = store.leaseDuration(requested);
        Duration least = requested.orElse(DurationLimits.SHORTEST_LEASE);
        if (lease.compareTo(least) < 0 || lease.compareTo(DurationLimits.LONGEST_LEASE) > 0) {
            throw new IllegalArgumentException(
                    "leaseDuration is " + requested.map(Duration::toString).orElse("not set")
                            + ", for which " + store.getClass().getName() + " uses " + lease + ", must be from " + least
                            + " to "
                            + DurationLimits.LONGEST_LEASE);
        }
        return lease;
    }

    @Override
    public void checkReleaseDelay(Duration delay) {
        delayInForce(delay);
    }

    /**
     * Returns the delay, rounded up as a lease is, since {@link LeaseStore#renew} sets it as the duration of a last lease. One that
     * the store rejects as too short for a lease stays as it is: nobody has to renew it in time.
     *
     * @throws IllegalArgumentException if it is longer than the store's leases
     */
    Duration delayInForce(Duration delay) {
        try {
            return leaseDuration(Optional.of(delay));
        } catch (IllegalArgumentException e) {
            if (delay.compareTo(leaseDuration(Optional.empty())) < 0) {
                return delay;
            }
            throw e;
        }
    }

    @Override
    public boolean queuesWaiters() {
        return false;
    }

    @Override
    public Contender enqueue(LockRequest request, ContenderListener listener) {
        return new LeaseStoreContender(this, store, context, request);
    }

    @Override
    public void renew(List<GrantValidity> due) {
        List<LeaseStoreGrantValidity> others = new ArrayList<>();
        List<LeaseStoreGrantValidity> suspects = new ArrayList<>();
        for (LeaseStoreGrantValidity mine : GrantValidity.cast(due, LeaseStoreGrantValidity.class)) {
            if (mine.startRenewal()) {
                (mine.isSuspect() ? suspects : others).add(mine);
            }
        }
        renew(others, LARGEST_BATCH);
        renew(suspects, Math.min(LARGEST_BATCH, (suspects.size() + MOST_PARTS - 1) / MOST_PARTS));
    }

    private void renew(List<LeaseStoreGrantValidity> due, int largestBatch) {
        Map<Duration, Map<Grant, LeaseStoreGrantValidity>> batches = new HashMap<>(); // by lease
        for (LeaseStoreGrantValidity mine : due) {
            Map<Grant, LeaseStoreGrantValidity> batch = batches.computeIfAbsent(mine.lease(), lease -> new HashMap<>());
            batch.put(mine.grant(), mine);
            if (batch.size() == largestBatch) {
                batches.remove(mine.lease());
                renew(mine.lease(), batch);
            }
        }
        batches.forEach(this::renew);
    }

    private void renew(Duration lease, Map<Grant, LeaseStoreGrantValidity> due) {
        MonotonicInstant until = LockClock.deadline(context.clock().now(), lease);
        CompletionStage<Set<Grant>> renewal =
                sendRenewal("renew " + due.size() + " leases", Set.copyOf(due.keySet()), () -> lease);
        renewal.whenComplete((removed, failure) -> {
                    for (LeaseStoreGrantValidity mine : due.values()) {
                        if (failure != null) {
                            mine.renewalWithoutReply(failure);
                        } else if (removed.contains(mine.grant())) {
                            mine.removed("the store no longer has the grant");
                        } else {
                            mine.renewedUntil(until);
                        }
                    }
                })
                .whenComplete((removed, failure) -> due.values().forEach(LeaseStoreGrantValidity::renewalEnded));
    }

    @Override
    public Optional<LockAdmin> admin() {
        return store instanceof ListableLeaseStore listable
                ? Optional.of(new LeaseStoreLockAdmin(listable, this))
                : Optional.empty();
    }

    @Override
    public void close() {
        BoundedCloseWait.await(
                CompletableFuture.runAsync(store::close, context.blocking()),
                BoundedCloseWait.LIMIT,
                "endpoints=" + endpoints());
    }

    /** Sends a request with a deadline, and assigns its failure to one of the categories of {@link LeaseStore}. */
    <T> CompletionStage<T> send(String what, Supplier<CompletionStage<T>> request) {
        CompletionStage<T> stage;
        try {
            stage = nonNull(what, request.get()).thenApply(answer -> nonNull(what, answer));
        } catch (Throwable e) { // in some languages a method may throw any exception
            stage = CompletableFuture.failedFuture(e);
        }
        return context.withRequestTimeout(what, stage).exceptionallyCompose(failure -> {
            Throwable cause = StageFailures.unwrap(failure);
            return CompletableFuture.failedFuture(cause instanceof LockException ? cause : categorized(what, cause));
        });
    }

    /** Sends a renewal. A reply that names other grants is a failure: it may mean ours, in a form that the store has changed. */
    CompletionStage<Set<Grant>> sendRenewal(String what, Set<Grant> grants, Supplier<Duration> lease) {
        return send(
                what,
                () -> nonNull(what, store.renew(grants, lease.get())).thenApply(removed -> {
                    if (!grants.containsAll(nonNull(what, removed))) {
                        throw new BackendRefusedException(
                                store.getClass().getName() + " returned other grants than those of " + what);
                    }
                    return removed;
                }));
    }

    private LockException categorized(String what, Throwable cause) {
        String message = what + " failed: " + cause;
        return isRefusal(cause)
                ? new BackendRefusedException(message, cause)
                : new BackendUnavailableException(message, cause);
    }

    private boolean isRefusal(Throwable cause) {
        try {
            return store.isRefusal(cause);
        } catch (Throwable e) { // in some languages a method may throw any exception
            if (e != cause) {
                cause.addSuppressed(e);
            }
            return false;
        }
    }

    /** Rejects null, which is no valid reply: a store that returns it is broken, and what it did is unknown. */
    private <T> T nonNull(String what, @Nullable T answer) {
        if (answer == null) {
            throw new BackendRefusedException(store.getClass().getName() + " returned null for " + what);
        }
        return answer;
    }
}

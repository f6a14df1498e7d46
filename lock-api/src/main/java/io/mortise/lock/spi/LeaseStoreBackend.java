// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Capability;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockException;
import io.mortise.lock.internal.DurationLimits;
import io.mortise.lock.spi.LeaseStore.Grant;
import io.mortise.lock.spi.support.BoundedCloseWait;
import io.mortise.lock.spi.support.Durations;
import io.mortise.lock.spi.support.StageFailures;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
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

    private static final Duration FIRST_SWEEP = Duration.ofMillis(250);
    private static final int RENEWALS_PER_LEASE = 3;

    /** The most grants in one call of {@link LeaseStore#renew}, which must end within a request timeout. */
    private static final int LARGEST_BATCH = 100;

    /** The most calls for the grants of calls that failed: each grant has its own, unless that would multiply the requests. */
    private static final int MOST_PARTS = 100;

    private static final Duration RETRY = Duration.ofMillis(150);

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
    private Duration delayInForce(Duration delay) {
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
        return new StoreContender(request);
    }

    @Override
    public void renew(List<GrantValidity> due) {
        List<StoreGrantValidity> others = new ArrayList<>();
        List<StoreGrantValidity> suspects = new ArrayList<>();
        for (StoreGrantValidity mine : GrantValidity.cast(due, StoreGrantValidity.class)) {
            if (mine.startRenewal()) {
                (mine.suspect ? suspects : others).add(mine);
            }
        }
        renew(others, LARGEST_BATCH);
        renew(suspects, Math.min(LARGEST_BATCH, (suspects.size() + MOST_PARTS - 1) / MOST_PARTS));
    }

    private void renew(List<StoreGrantValidity> due, int largestBatch) {
        Map<Duration, Map<Grant, StoreGrantValidity>> batches = new HashMap<>(); // by lease
        for (StoreGrantValidity mine : due) {
            Map<Grant, StoreGrantValidity> batch = batches.computeIfAbsent(mine.lease, lease -> new HashMap<>());
            batch.put(mine.grant, mine);
            if (batch.size() == largestBatch) {
                batches.remove(mine.lease);
                renew(mine.lease, batch);
            }
        }
        batches.forEach(this::renew);
    }

    private void renew(Duration lease, Map<Grant, StoreGrantValidity> due) {
        MonotonicInstant until = LockClock.deadline(context.clock().now(), lease);
        CompletionStage<Set<Grant>> renewal =
                sendRenewal("renew " + due.size() + " leases", Set.copyOf(due.keySet()), () -> lease);
        renewal.whenComplete((removed, failure) -> {
                    for (StoreGrantValidity mine : due.values()) {
                        mine.suspect = failure != null;
                        if (failure != null) {
                            mine.renewalWithoutReply(failure);
                        } else if (removed.contains(mine.grant)) {
                            mine.removed("the store no longer has the grant");
                        } else {
                            mine.extend(until);
                        }
                    }
                })
                .whenComplete((removed, failure) -> due.values().forEach(StoreGrantValidity::renewalEnded));
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
    private CompletionStage<Set<Grant>> sendRenewal(String what, Set<Grant> grants, Supplier<Duration> lease) {
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

    /** The validity of one grant in the store. */
    private final class StoreGrantValidity extends GrantValidity {
        private final Grant grant;
        private final Duration lease;

        /**
         * Whether the latest call has failed, or has no reply yet, so that the grant may be one that the store cannot renew. It is
         * renewed in a call of few grants or of its own then, and costs no other one.
         */
        private volatile boolean suspect;

        @GuardedBy("this")
        private int renewalsUnderWay;

        /** What to do when the renewals under way have ended; null until no further one may be sent. */
        @GuardedBy("this")
        private @Nullable Runnable whenStopped;

        /** When the latest renewal without a reply failed. It counts as one that may still execute for one lease duration. */
        private volatile @Nullable MonotonicInstant withoutReply;

        StoreGrantValidity(Grant grant, Duration lease, MonotonicInstant validUntil) {
            super(context.clock(), Durations.divide(lease, RENEWALS_PER_LEASE), validUntil);
            this.grant = grant;
            this.lease = lease;
        }

        /** Records a renewal that is about to be sent. Returns false if none may be sent any more. */
        synchronized boolean startRenewal() {
            if (whenStopped != null) {
                return false;
            }
            if (renewalsUnderWay++ > 0) {
                suspect = true;
            }
            return true;
        }

        void renewalEnded() {
            Runnable last;
            synchronized (this) {
                last = --renewalsUnderWay == 0 ? whenStopped : null;
            }
            if (last != null) {
                last.run();
            }
        }

        /**
         * Prevents all further renewals. Returns whether an earlier one may still execute: it is under way, or has failed less than a
         * lease duration ago.
         *
         * @param whenEnded runs when those under way have ended, if there are any
         */
        boolean stopRenewals(Runnable whenEnded) {
            synchronized (this) {
                whenStopped = whenEnded;
                if (renewalsUnderWay > 0) {
                    return true;
                }
            }
            MonotonicInstant since = withoutReply;
            return since != null && !context.clock().hasPassed(since.plus(lease));
        }

        void renewalWithoutReply(Throwable failure) {
            withoutReply = context.clock().now();
            renewalUnknown(failure);
        }
    }

    /** A contender that requests its grant by polling the store. */
    private final class StoreContender implements Contender {
        private final LockRequest request;
        private final Grant grant;
        /** When the first attempt without a response was sent; that attempt may still execute. */
        private @Nullable MonotonicInstant unknownSince;

        private volatile boolean swept;
        private @Nullable StoreGrantValidity validity; // null before the grant

        StoreContender(LockRequest request) {
            this.request = request;
            this.grant = new Grant(request.name(), request.attemptId());
        }

        @Override
        public CompletionStage<AttemptResult> attempt() {
            MonotonicInstant sent = context.clock().now();
            return send(
                            "acquire of " + request.name(),
                            () -> store.tryAcquire(request.name(), request.ownerRecord(), request.leaseDuration()))
                    .handle((answer, failure) -> {
                        MonotonicInstant earliestSent = unknownSince;
                        if (failure != null) {
                            if (!(StageFailures.unwrap(failure) instanceof BackendRefusedException)) {
                                unknownSince = earliestSent == null ? sent : earliestSent;
                            }
                            throw failure instanceof CompletionException c ? c : new CompletionException(failure);
                        }
                        return answer instanceof LeaseStore.Answer.Token granted
                                ? granted(granted.token(), sent, earliestSent == null ? sent : earliestSent)
                                : busy(earliestSent != null);
                    });
        }

        /**
         * Counts the lease from the first attempt without a response, which may be the one that created the grant. If that
         * attempt is so old that the first renewal would be late, the grant is released and requested again.
         */
        private AttemptResult granted(long token, MonotonicInstant sent, MonotonicInstant from) {
            Duration lease = request.leaseDuration();
            if (sent.isAfter(from.plus(Durations.divide(lease, RENEWALS_PER_LEASE)))) {
                return displaced("the reply that granted the lock was lost too long ago");
            }
            StoreGrantValidity valid = new StoreGrantValidity(grant, lease, LockClock.deadline(from, lease));
            validity = valid;
            return new AttemptResult.Granted(token, valid);
        }

        /** Uses a new attempt id if an attempt had no response: it may still create a grant under this id, at any time. */
        private AttemptResult busy(boolean uncertain) {
            return uncertain ? displaced("an earlier attempt had no response") : new AttemptResult.Waiting(RETRY);
        }

        /**
         * Removes what this contender may have in the store, because the core does not call {@link #end()} afterwards. The
         * repetitions are registered at once, so that a close waits for them.
         */
        private AttemptResult displaced(String why) {
            end();
            sweep(context.clock().now(), Duration.ZERO);
            return new AttemptResult.Displaced(why);
        }

        @Override
        public CompletionStage<Boolean> end() {
            // The first repetition must not overtake the release: that would find nothing, and report a loss.
            return release().whenComplete((was, failure) -> {
                if (unknownSince != null) {
                    sweep(context.clock().now(), Duration.ZERO);
                }
            });
        }

        /**
         * Extends the grant once more, by the delay. It cannot wait for the renewals under way, since the grant may end before a
         * silent one does: so it is repeated when they have ended, and until then as after any other request that may still execute.
         */
        @Override
        public CompletionStage<Boolean> endAfter(Duration delay) {
            StoreGrantValidity held = Objects.requireNonNull(validity, "not granted");
            MonotonicInstant at = context.clock().now().plus(delay);
            boolean renewalMayExecute = held.stopRenewals(() -> keepUntil(at));
            return keepUntil(at).whenComplete((kept, failure) -> {
                if (failure != null || unknownSince != null || renewalMayExecute) {
                    sweep(at, context.requestTimeout()); // in which a renewal under way ends
                }
            });
        }

        private CompletionStage<Boolean> keepUntil(MonotonicInstant at) {
            return sendRenewal("delayed release of lock \"" + request.name() + "\"", Set.of(grant), () -> {
                        Duration left = Durations.roundUpToMillis(
                                Durations.longer(context.clock().until(at), Duration.ofMillis(1)));
                        return delayInForce(left);
                    })
                    .thenApply(removed -> !removed.contains(grant));
        }

        /**
         * Repeats the release, or until {@code at} the delayed release, for one lease duration and with growing pauses, because
         * an earlier request may execute after the first release and the store cannot reject it. The pauses double, so what such
         * a request changes lasts at most about as long as the request was delayed, and never longer than the lease.
         *
         * @param underWay how long until all earlier requests have had their deadlines
         */
        private void sweep(MonotonicInstant at, Duration underWay) {
            if (swept) {
                return;
            }
            swept = true;
            MonotonicInstant until =
                    context.clock().now().plus(request.leaseDuration()).plus(underWay);
            CompletableFuture<Boolean> ended = new CompletableFuture<>();
            sweep(at, FIRST_SWEEP, until, ended);
            context.cleanUp(
                    "a request for lock \"" + request.name() + "\" without a response, which may still execute",
                    () -> ended,
                    until);
        }

        private void sweep(
                MonotonicInstant at, Duration pause, MonotonicInstant until, CompletableFuture<Boolean> ended) {
            context.clock().schedule(pause, () -> {
                CompletionStage<Boolean> repeated = context.clock().hasPassed(at) ? release() : keepUntil(at);
                repeated.whenComplete((was, failure) -> {
                    Duration left = context.clock().until(until);
                    if (!Durations.isPositive(left)) {
                        ended.complete(true); // a request that executes later lasts for its lease
                    } else {
                        sweep(at, Durations.shorter(left, pause.multipliedBy(2)), until, ended);
                    }
                });
            });
        }

        private CompletionStage<Boolean> release() {
            return send("release of lock \"" + request.name() + "\"", () -> store.release(grant));
        }
    }
}

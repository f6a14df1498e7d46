// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Capability;
import io.mortise.lock.LockException;
import io.mortise.lock.spi.LeaseStore.Grant;
import io.mortise.lock.spi.support.Durations;
import io.mortise.lock.spi.support.StageFailures;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Adapts a {@link LeaseStore} to the full SPI: one contender per process and lock asks again after a short pause.
 *
 * <p>Such a store cannot refuse a request that executes late either. After one without an answer the adapter removes what it
 * may have made, again and again for one lease duration; a client that closes waits for that as long as it may, and names it
 * in the log. A request that is later than all this makes a grant that nobody has, until its lease ends.
 */
public final class LeaseStoreBackend implements LockBackend {
    /** How long a grant lasts unless the application says otherwise. */
    public static final Duration DEFAULT_LEASE = Duration.ofSeconds(30);

    private static final Duration FIRST_SWEEP = Duration.ofMillis(250);
    private static final int RENEWALS_PER_LEASE = 3;
    private static final Duration RETRY = Duration.ofMillis(150);

    private final LeaseStore store;
    private final BackendContext context;

    /** The backend closes the store when it is closed. */
    public LeaseStoreBackend(LeaseStore store, BackendContext context) {
        this.store = store;
        this.context = context;
    }

    @Override
    public String endpoints() {
        return store.endpoints();
    }

    @Override
    public Set<Capability> capabilities() {
        return Set.of(Capability.FENCING, Capability.CRASH_RELEASE, Capability.PER_LOCK_LEASE);
    }

    @Override
    public Duration leaseDuration(Optional<Duration> asked) {
        return asked.orElse(DEFAULT_LEASE);
    }

    @Override
    public boolean queuesWaiters() {
        return false;
    }

    @Override
    public Contender enqueue(LockRequest request, ContenderListener waiter) {
        return new StoreContender(request);
    }

    @Override
    public void renew(List<GrantValidity> due) {
        Map<Duration, Map<Grant, StoreGrantValidity>> byLease = new HashMap<>();
        for (StoreGrantValidity mine : GrantValidity.cast(due, StoreGrantValidity.class)) {
            byLease.computeIfAbsent(mine.lease, lease -> new HashMap<>()).put(mine.grant, mine);
        }
        byLease.forEach(this::renew);
    }

    private void renew(Duration lease, Map<Grant, StoreGrantValidity> due) {
        MonotonicTime until = LockClock.deadline(context.clock().now(), lease);
        ask("renew " + due.size() + " leases", () -> store.renew(Set.copyOf(due.keySet()), lease))
                .whenComplete((removed, failure) -> {
                    for (StoreGrantValidity mine : due.values()) {
                        if (failure != null) {
                            mine.unknown(failure);
                        } else if (removed.contains(mine.grant)) {
                            mine.removed("the store no longer has the grant");
                        } else {
                            mine.extend(until);
                        }
                    }
                });
    }

    @Override
    public void close() {
        store.close();
    }

    private <T> CompletionStage<T> ask(String what, Supplier<CompletionStage<T>> request) {
        CompletionStage<T> stage;
        try {
            stage = answered(what, request.get()).thenApply(answer -> answered(what, answer));
        } catch (RuntimeException e) {
            stage = CompletableFuture.failedFuture(e);
        }
        return context.timed(what, stage).exceptionallyCompose(failure -> {
            Throwable cause = StageFailures.unwrap(failure);
            return CompletableFuture.failedFuture(
                    cause instanceof LockException
                            ? cause
                            : new BackendUnavailableException(what + " failed: " + cause, cause));
        });
    }

    /** Null means nothing in any answer: a store that gives it is broken, and what it did is not known. */
    private <T> T answered(String what, @Nullable T answer) {
        if (answer == null) {
            throw new BackendRefusedException(store.getClass().getName() + " answered null to " + what);
        }
        return answer;
    }

    private static final class StoreGrantValidity extends GrantValidity {
        private final Grant grant;
        private final Duration lease;

        StoreGrantValidity(LockClock clock, Grant grant, Duration lease, MonotonicTime validUntil) {
            super(clock, Durations.divide(lease, RENEWALS_PER_LEASE), validUntil);
            this.grant = grant;
            this.lease = lease;
        }
    }

    private final class StoreContender implements Contender {
        private final LockRequest request;
        private final Grant grant;
        /** When the first attempt without an answer was sent; it may execute at any time. */
        private @Nullable MonotonicTime unknownSince;

        StoreContender(LockRequest request) {
            this.request = request;
            this.grant = new Grant(request.name(), request.attemptId());
        }

        @Override
        public CompletionStage<AttemptResult> attempt() {
            MonotonicTime sent = context.clock().now();
            return ask(
                            "acquire of " + request.name(),
                            () -> store.tryAcquire(request.name(), request.ownerRecord(), request.leaseDuration()))
                    .handle((answer, failure) -> {
                        MonotonicTime doubtfulSince = unknownSince;
                        if (failure != null) {
                            unknownSince = doubtfulSince == null ? sent : doubtfulSince;
                            throw failure instanceof CompletionException c ? c : new CompletionException(failure);
                        }
                        return answer instanceof LeaseStore.Answer.Token granted
                                ? granted(granted.token(), sent, doubtfulSince == null ? sent : doubtfulSince)
                                : busy(doubtfulSince != null);
                    });
        }

        /**
         * An earlier attempt without an answer may be what made the grant: its lease counts from there. If that is too long
         * ago for the first renewal to come in good time, the grant is given back, and asked for anew.
         */
        private AttemptResult granted(long token, MonotonicTime sent, MonotonicTime from) {
            Duration lease = request.leaseDuration();
            if (sent.isAfter(from.plus(Durations.divide(lease, RENEWALS_PER_LEASE)))) {
                return displaced("the answer that granted it was lost too long ago");
            }
            return new AttemptResult.Granted(
                    token, new StoreGrantValidity(context.clock(), grant, lease, LockClock.deadline(from, lease)));
        }

        /** What has no answer may yet make a grant under the same id, at a time unknown: the next is asked for under another. */
        private AttemptResult busy(boolean doubtful) {
            return doubtful ? displaced("an attempt before had no answer") : new AttemptResult.Waiting(RETRY);
        }

        /** The core does not call {@link #end()} after this. */
        private AttemptResult displaced(String why) {
            release();
            sweepIfUnknown();
            return new AttemptResult.Displaced(why);
        }

        @Override
        public CompletionStage<Boolean> end() {
            CompletionStage<Boolean> released = release();
            sweepIfUnknown();
            return released;
        }

        /**
         * A request that was stuck on its way can execute after the release, and such a store cannot refuse it: it is released again,
         * ever more rarely, for one lease duration. What it made lasts at most as long again as it was late, and never
         * beyond its lease.
         */
        private void sweepIfUnknown() {
            if (unknownSince != null) {
                unknownSince = null;
                MonotonicTime until = context.clock().now().plus(request.leaseDuration());
                CompletableFuture<Boolean> swept = new CompletableFuture<>();
                sweep(FIRST_SWEEP, until, swept);
                context.cleanUp(
                        "a request for lock \"" + request.name() + "\" without an answer, which may yet execute",
                        () -> swept,
                        until);
            }
        }

        private void sweep(Duration pause, MonotonicTime until, CompletableFuture<Boolean> swept) {
            context.clock()
                    .schedule(
                            pause,
                            () -> release().whenComplete((was, failure) -> {
                                Duration left = context.clock().until(until);
                                if (!Durations.isPositive(left)) {
                                    swept.complete(true); // what executes from now on is bounded by its own lease alone
                                } else {
                                    sweep(Durations.shorter(left, pause.multipliedBy(2)), until, swept);
                                }
                            }));
        }

        private CompletionStage<Boolean> release() {
            return ask("release of lock \"" + request.name() + "\"", () -> store.release(grant));
        }
    }
}

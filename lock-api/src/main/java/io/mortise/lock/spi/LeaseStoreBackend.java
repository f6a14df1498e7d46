// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Capability;
import io.mortise.lock.LockException;
import io.mortise.lock.LossReason;
import io.mortise.lock.spi.LeaseStore.Grant;
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
 * A backend over a {@link LeaseStore}: one contender per process and lock from the core's local queue, which asks again
 * after a short pause with the core's jitter, since such a store cannot push.
 */
public final class LeaseStoreBackend implements LockBackend {
    /** How long a grant lasts unless the application says otherwise. */
    public static final Duration DEFAULT_LEASE = Duration.ofSeconds(30);

    private static final Duration FIRST_SWEEP = Duration.ofMillis(250);
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
    public Ticket enqueue(LockRequest request, Waiter waiter) {
        return new StoreTicket(request);
    }

    @Override
    public void renew(List<Liveness> due) {
        Map<Duration, Map<Grant, StoreLiveness>> byLease = new HashMap<>();
        for (Liveness liveness : due) {
            StoreLiveness mine = (StoreLiveness) liveness;
            byLease.computeIfAbsent(mine.lease, lease -> new HashMap<>()).put(mine.grant, mine);
        }
        byLease.forEach(this::renew);
    }

    private void renew(Duration lease, Map<Grant, StoreLiveness> due) {
        long until = LockClock.deadline(context.clock().nanoTime(), lease);
        ask("renew " + due.size() + " leases", () -> store.renew(due.keySet(), lease))
                .whenComplete((gone, failure) -> {
                    for (StoreLiveness mine : due.values()) {
                        if (failure != null) {
                            mine.unknown(failure);
                        } else if (gone.contains(mine.grant)) {
                            mine.lost(new LossReason(LossReason.Kind.REMOVED, "the store no longer has the grant"));
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
            stage = request.get();
        } catch (RuntimeException e) {
            stage = CompletableFuture.failedFuture(e);
        }
        return context.timed(what, stage).exceptionallyCompose(failure -> {
            Throwable cause =
                    failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
            return CompletableFuture.failedFuture(
                    cause instanceof LockException
                            ? cause
                            : new BackendUnavailableException(what + " failed: " + cause, cause));
        });
    }

    private static final class StoreLiveness extends Liveness {
        private final Grant grant;
        private final Duration lease;

        StoreLiveness(LockClock clock, Grant grant, Duration lease, long validUntil) {
            super(clock, lease.dividedBy(3), validUntil);
            this.grant = grant;
            this.lease = lease;
        }
    }

    private final class StoreTicket implements Ticket {
        private final LockRequest request;
        private final Grant grant;
        private boolean unknown; // an attempt without an answer may execute after our release
        private @Nullable Long firstAsked;

        StoreTicket(LockRequest request) {
            this.request = request;
            this.grant = new Grant(request.name(), request.attemptId());
        }

        @Override
        public CompletionStage<Attempt> attempt() {
            long sent = context.clock().nanoTime();
            long from = firstAsked == null ? sent : firstAsked;
            firstAsked = from;
            return ask(
                            "acquire of " + request.name(),
                            () -> store.tryAcquire(request.name(), request.ownerRecord(), request.leaseDuration()))
                    .handle((answer, failure) -> {
                        if (failure != null) {
                            unknown = true;
                            throw failure instanceof CompletionException c ? c : new CompletionException(failure);
                        }
                        if (answer instanceof LeaseStore.Answer.Token granted) {
                            // An earlier attempt without an answer may be what made the grant: its lease counts from
                            // there.
                            long until = LockClock.deadline(unknown ? from : sent, request.leaseDuration());
                            return new Attempt.Granted(
                                    granted.token(),
                                    new StoreLiveness(context.clock(), grant, request.leaseDuration(), until));
                        }
                        firstAsked = unknown ? firstAsked : null;
                        return new Attempt.Waiting(RETRY);
                    });
        }

        @Override
        public CompletionStage<Boolean> end() {
            CompletionStage<Boolean> released = release();
            if (unknown) {
                unknown = false;
                sweep(
                        FIRST_SWEEP,
                        context.clock().nanoTime() + request.leaseDuration().toNanos());
            }
            return released;
        }

        /**
         * A request that was stuck on its way can execute after the release, and such a store cannot refuse it: look again,
         * ever more rarely. What it made stands at most as long again as it was late, and never beyond its lease.
         */
        private void sweep(Duration pause, long until) {
            context.clock().schedule(pause, () -> {
                release();
                if (context.clock().nanoTime() - until < 0) {
                    sweep(pause.multipliedBy(2), until);
                }
            });
        }

        private CompletionStage<Boolean> release() {
            return ask("release of " + request.name(), () -> store.release(grant));
        }
    }
}

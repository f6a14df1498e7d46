// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import static io.mortise.lock.proof.mutants.Mutant.backend;
import static io.mortise.lock.proof.mutants.Mutant.client;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.proof.mutants.LossMutants.Forwarding;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockRequest;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;

/** What somebody who no longer wants the lock leaves behind, and how soon he may go: S08 and S10. */
final class WithdrawalMutants {
    private WithdrawalMutants() {}

    static List<Mutant> all() {
        return List.of(
                backend(
                        "S08",
                        "a waiter that gives up stays in the queue",
                        "S08_aWaiterThatTimedOutLeavesNothing",
                        WithdrawalMutants::keepsThePlace),
                backend(
                        "S08",
                        "a grant that nobody has collected is not withdrawn",
                        "S08_aCancelThatRacesWithTheGrantLeavesNothing",
                        WithdrawalMutants::withdrawsOnlyPlaces),
                client(
                        "S08",
                        "the future that users get is a derived one",
                        "S08_aWaiterThatEndedItsFutureLeavesNothing",
                        honest -> new Locks(honest, DerivedFuture::new)),
                client(
                        "S08",
                        "a future that timed out withdraws nothing",
                        "S08_aWaiterThatEndedItsFutureLeavesNothing",
                        honest -> new Locks(honest, WithdrawsOnlyOnCancel::new)),
                client(
                        "S10",
                        "an interrupt is noticed by the next attempt",
                        "S10_anInterruptReturnsAtOnce",
                        honest -> new Locks(honest, LooksNowAndThen::new)),
                client(
                        "S10",
                        "an interrupt is swallowed where the lock is free",
                        "S10_aThreadInterruptedBeforehandAsksForNothing",
                        honest -> new Locks(honest, ForgetsTheFlag::new)),
                client(
                        "S10",
                        "a cancel waits for the store",
                        "S10_aCancelReturnsAtOnce",
                        honest -> new Locks(honest, SlowCancel::new)),
                backend(
                        "S10",
                        "a cancelled waiter stays in the queue",
                        "S10_aCancelReturnsAtOnce",
                        WithdrawalMutants::keepsThePlace));
    }

    /** A client whose handles are wrong. */
    static final class Locks extends ForwardingClient {
        private final BiFunction<DistributedLock, UnaryOperator<Lease>, DistributedLock> wrong;

        Locks(LockClient honest, BiFunction<DistributedLock, UnaryOperator<Lease>, DistributedLock> wrong) {
            super(honest);
            this.wrong = wrong;
        }

        @Override
        DistributedLock lock(DistributedLock honest) {
            return wrong.apply(honest, this::lease);
        }
    }

    /** Tells what was granted and collected from what was not. Its hints take time, as they do between machines. */
    abstract static class Collecting extends ForwardingBackend {
        private final Set<String> collected = ConcurrentHashMap.newKeySet();

        Collecting(LockBackend honest, MutantConnection connection) {
            super(honest, connection);
        }

        @Override
        final AttemptResult granted(LockRequest request, AttemptResult.Granted granted) {
            collected.add(request.attemptId());
            return super.granted(request, granted);
        }

        @Override
        final CompletionStage<Boolean> end(LockRequest request, Contender contender) {
            return collected.contains(request.attemptId())
                    ? super.end(request, contender)
                    : endUncollected(request, contender);
        }

        abstract CompletionStage<Boolean> endUncollected(LockRequest request, Contender contender);

        /** Whether a hint reaches its waiter. */
        boolean passes() {
            return true;
        }

        @Override
        final ContenderListener heard(LockRequest request, ContenderListener core) {
            return new Forwarding(core) {
                @Override
                public void wake() {
                    if (passes()) {
                        connection.context().clock().schedule(Duration.ofMillis(1), core::wake);
                    }
                }
            };
        }
    }

    static LockBackend keepsThePlace(LockBackend honest, MutantConnection connection) {
        return new Collecting(honest, connection) {
            @Override
            CompletionStage<Boolean> endUncollected(LockRequest request, Contender contender) {
                return CompletableFuture.completedFuture(true);
            }
        };
    }

    private static LockBackend withdrawsOnlyPlaces(LockBackend honest, MutantConnection connection) {
        return new Collecting(honest, connection) {
            @Override
            CompletionStage<Boolean> endUncollected(LockRequest request, Contender contender) {
                boolean waits = honest
                        .admin()
                        .orElseThrow()
                        .status(request.name().value())
                        .toCompletableFuture()
                        .join()
                        .waiters()
                        .stream()
                        .anyMatch(waiter -> waiter.owner().equals(Optional.of(request.attemptId())));
                return waits ? contender.end() : CompletableFuture.completedFuture(false);
            }
        };
    }

    private static final class DerivedFuture extends ForwardingLock {
        DerivedFuture(DistributedLock honest, UnaryOperator<Lease> dress) {
            super(honest, dress);
        }

        @Override
        public CompletableFuture<Lease> acquireAsync() {
            return honest.acquireAsync().thenApply(lease -> lease);
        }
    }

    private static final class WithdrawsOnlyOnCancel extends ForwardingLock {
        WithdrawsOnlyOnCancel(DistributedLock honest, UnaryOperator<Lease> dress) {
            super(honest, dress);
        }

        @Override
        public CompletableFuture<Lease> acquireAsync() {
            CompletableFuture<Lease> seen = new CompletableFuture<>();
            CompletableFuture<Lease> asked = honest.acquireAsync();
            asked.thenAccept(seen::complete);
            seen.whenComplete((lease, failure) -> {
                if (seen.isCancelled()) { // one of the ways in which a future ends
                    asked.thenAccept(Lease::releaseAsync);
                    asked.cancel(true);
                }
            });
            return seen;
        }
    }

    private static final class LooksNowAndThen extends ForwardingLock {
        LooksNowAndThen(DistributedLock honest, UnaryOperator<Lease> dress) {
            super(honest, dress);
        }

        @Override
        public Lease acquire() throws InterruptedException {
            CompletableFuture<Lease> asked = acquireAsync();
            long slept = System.nanoTime();
            while (!asked.isDone()) {
                if (System.nanoTime() - slept > Duration.ofMillis(300).toNanos()) {
                    if (Thread.interrupted()) {
                        asked.cancel(true);
                        throw new InterruptedException();
                    }
                    slept = System.nanoTime();
                }
                boolean interrupted = Thread.interrupted();
                LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
            return asked.join();
        }
    }

    private static final class ForgetsTheFlag extends ForwardingLock {
        ForgetsTheFlag(DistributedLock honest, UnaryOperator<Lease> dress) {
            super(honest, dress);
        }

        @Override
        public Lease acquire() throws InterruptedException {
            Thread.interrupted();
            return super.acquire();
        }
    }

    private static final class SlowCancel extends ForwardingLock {
        SlowCancel(DistributedLock honest, UnaryOperator<Lease> dress) {
            super(honest, dress);
        }

        @Override
        public CompletableFuture<Lease> acquireAsync() {
            CompletableFuture<Lease> asked = super.acquireAsync();
            return new CompletableFuture<>() {
                {
                    asked.thenAccept(this::complete);
                }

                @Override
                public boolean cancel(boolean interrupt) {
                    asked.cancel(interrupt);
                    LockSupport.parkNanos(Duration.ofMillis(80).toNanos()); // two round trips over a slow link
                    return super.cancel(interrupt);
                }
            };
        }
    }
}

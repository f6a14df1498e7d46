// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import static io.mortise.lock.proof.mutants.WrapperMutant.backend;
import static io.mortise.lock.proof.mutants.WrapperMutant.client;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
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

/** Deliberately defective backends and clients that leave orphans, or react late, when a waiter gives up. Rules S08 and S10. */
final class WithdrawalMutants {
    private WithdrawalMutants() {}

    static List<WrapperMutant> all() {
        return List.of(
                backend(
                        "S08",
                        "a waiter that gives up stays in the queue",
                        "S08_aWaiterThatTimedOutLeavesNoOrphan",
                        WithdrawalMutants::keepsQueueEntry),
                backend(
                        "S08",
                        "a grant that was not delivered is not withdrawn",
                        "S08_aCancelThatRacesWithTheGrantLeavesNoOrphan",
                        WithdrawalMutants::withdrawsOnlyQueueEntries),
                client(
                        "S08",
                        "cancelling the returned future does not cancel the request",
                        "S08_aWaiterThatEndedItsFutureLeavesNoOrphan",
                        delegate -> new WrongLocksClient(delegate, WithdrawalMutants::derivedFuture)),
                client(
                        "S08",
                        "a future that timed out does not withdraw its request",
                        "S08_aWaiterThatEndedItsFutureLeavesNoOrphan",
                        delegate -> new WrongLocksClient(delegate, WithdrawalMutants::withdrawsOnlyOnCancel)),
                client(
                        "S10",
                        "an interrupt is detected only by the next attempt",
                        "S10_anInterruptReturnsAtOnce",
                        delegate -> new WrongLocksClient(delegate, WithdrawalMutants::checksInterruptRarely)),
                client(
                        "S10",
                        "an interrupt is ignored if the lock is free",
                        "S10_eachCallByAnInterruptedThreadThrows",
                        delegate -> new WrongLocksClient(delegate, WithdrawalMutants::clearsInterruptFlag)),
                client(
                        "S10",
                        "a cancel waits for the store",
                        "S10_aCancelReturnsAtOnce",
                        delegate -> new WrongLocksClient(delegate, WithdrawalMutants::slowCancel)),
                backend(
                        "S10",
                        "a cancelled waiter stays in the queue",
                        "S10_aCancelReturnsAtOnce",
                        WithdrawalMutants::keepsQueueEntry));
    }

    /** A client that wraps its locks in a defective implementation. */
    static final class WrongLocksClient extends ForwardingClient {
        private final BiFunction<DistributedLock, UnaryOperator<Lease>, DistributedLock> wrong;

        WrongLocksClient(
                LockClient delegate, BiFunction<DistributedLock, UnaryOperator<Lease>, DistributedLock> wrong) {
            super(delegate);
            this.wrong = wrong;
        }

        @Override
        DistributedLock lock(DistributedLock delegate) {
            return wrong.apply(delegate, this::lease);
        }
    }

    /** Distinguishes delivered grants from undelivered ones, and delays hints as a network does. */
    abstract static class TracksGrants extends ForwardingBackend {
        private final Set<String> delivered = ConcurrentHashMap.newKeySet();

        TracksGrants(LockBackend delegate, MutantConnection connection) {
            super(delegate, connection);
        }

        @Override
        final AttemptResult granted(LockRequest request, AttemptResult.Granted granted) {
            delivered.add(request.attemptId());
            return super.granted(request, granted);
        }

        @Override
        final CompletionStage<Boolean> end(LockRequest request, Contender contender) {
            return delivered.contains(request.attemptId())
                    ? super.end(request, contender)
                    : endUndelivered(request, contender);
        }

        abstract CompletionStage<Boolean> endUndelivered(LockRequest request, Contender contender);

        /** Returns whether a hint is delivered to its waiter. */
        boolean mayWake() {
            return true;
        }

        @Override
        final void wake(ContenderListener core) {
            if (mayWake()) {
                connection.context().clock().schedule(Duration.ofMillis(1), core::wake);
            }
        }
    }

    static LockBackend keepsQueueEntry(LockBackend delegate, MutantConnection connection) {
        return new TracksGrants(delegate, connection) {
            @Override
            CompletionStage<Boolean> endUndelivered(LockRequest request, Contender contender) {
                return CompletableFuture.completedFuture(true);
            }
        };
    }

    private static LockBackend withdrawsOnlyQueueEntries(LockBackend delegate, MutantConnection connection) {
        return new TracksGrants(delegate, connection) {
            @Override
            CompletionStage<Boolean> endUndelivered(LockRequest request, Contender contender) {
                boolean waits = delegate
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

    private static DistributedLock derivedFuture(DistributedLock delegate, UnaryOperator<Lease> wrapper) {
        return new ForwardingLock(delegate, wrapper) {
            @Override
            public CompletableFuture<Lease> acquireAsync() {
                return delegate.acquireAsync().thenApply(lease -> lease);
            }
        };
    }

    private static DistributedLock withdrawsOnlyOnCancel(DistributedLock delegate, UnaryOperator<Lease> wrapper) {
        return new ForwardingLock(delegate, wrapper) {
            @Override
            public CompletableFuture<Lease> acquireAsync() {
                CompletableFuture<Lease> seen = new CompletableFuture<>();
                CompletableFuture<Lease> request = delegate.acquireAsync();
                request.thenAccept(seen::complete);
                seen.whenComplete((lease, failure) -> {
                    if (seen.isCancelled()) { // a future may also end in other ways
                        request.thenAccept(Lease::releaseAsync);
                        request.cancel(true);
                    }
                });
                return seen;
            }
        };
    }

    private static DistributedLock checksInterruptRarely(DistributedLock delegate, UnaryOperator<Lease> wrapper) {
        return new ForwardingLock(delegate, wrapper) {
            @Override
            public Lease acquire() throws InterruptedException {
                CompletableFuture<Lease> request = acquireAsync();
                long slept = System.nanoTime();
                while (!request.isDone()) {
                    if (System.nanoTime() - slept > Duration.ofMillis(300).toNanos()) {
                        if (Thread.interrupted()) {
                            request.cancel(true);
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
                return request.join();
            }
        };
    }

    private static DistributedLock clearsInterruptFlag(DistributedLock delegate, UnaryOperator<Lease> wrapper) {
        return new ForwardingLock(delegate, wrapper) {
            @Override
            public Lease acquire() throws InterruptedException {
                Thread.interrupted();
                return super.acquire();
            }
        };
    }

    private static DistributedLock slowCancel(DistributedLock delegate, UnaryOperator<Lease> wrapper) {
        return new ForwardingLock(delegate, wrapper) {
            @Override
            public CompletableFuture<Lease> acquireAsync() {
                CompletableFuture<Lease> request = super.acquireAsync();
                return new CompletableFuture<>() {
                    {
                        request.thenAccept(this::complete);
                    }

                    @Override
                    public boolean cancel(boolean interrupt) {
                        request.cancel(interrupt);
                        LockSupport.parkNanos(Duration.ofMillis(80).toNanos()); // two round trips over a slow link
                        return super.cancel(interrupt);
                    }
                };
            }
        };
    }
}

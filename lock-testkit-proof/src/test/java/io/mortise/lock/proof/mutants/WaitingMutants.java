// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import static io.mortise.lock.proof.mutants.WrapperMutant.backend;
import static io.mortise.lock.proof.mutants.WrapperMutant.client;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockHolder;
import io.mortise.lock.proof.mutants.WithdrawalMutants.TracksGrants;
import io.mortise.lock.proof.mutants.WithdrawalMutants.WrongLocksClient;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.function.UnaryOperator;

/**
 * Deliberately defective backends and clients that wait too long, wake no waiter, or grant in the wrong order.
 *
 * <p>Rules S09, S11 and S12.
 */
final class WaitingMutants {
    private WaitingMutants() {}

    static List<WrapperMutant> all() {
        return List.of(
                client(
                        "S09",
                        "a wait may take twice its bound",
                        "S09_aBoundedWaitEndsAtItsBound",
                        delegate -> new WrongLocksClient(delegate, WaitingMutants::waitsTwice)),
                client(
                        "S09",
                        "a bounded wait makes only one attempt",
                        "S09_aBoundedWaitEndsAtItsBound",
                        delegate -> new WrongLocksClient(delegate, WaitingMutants::doesNotWait)),
                client(
                        "S09",
                        "a zero wait waits a short time",
                        "S09_zeroIsOneAttempt",
                        delegate -> new WrongLocksClient(delegate, WaitingMutants::waitsALittle)),
                backend(
                        "S09",
                        "the first attempt always reports busy",
                        "S09_aFreeLockIsGrantedAtTheFirstAttempt",
                        WaitingMutants::busyAtFirst),
                backend("S11", "no waiter is ever woken", "S11_aReleaseWakesTheNextWaiter", WaitingMutants::neverWakes),
                backend(
                        "S11",
                        "the lock of a crashed holder never expires",
                        "S02_aSilentHoldersLeaseEndsBeforeTheNextGrant",
                        WaitingMutants::keepsGrantsForEver),
                backend(
                        "S11",
                        "a hint sent to a withdrawing waiter is not passed on",
                        "S11_aWithdrawnWaiterPassesTheHintOn",
                        WaitingMutants::dropsHintOfWithdrawnWaiter),
                backend(
                        "S11",
                        "a forced release wakes no waiter",
                        "S11_aForcedReleaseWakesTheNextWaiter",
                        WaitingMutants::forcesSilently),
                backend(
                        "S12",
                        "the last waiter is granted first",
                        "S12_oneClientIsGrantedInRequestOrder",
                        WaitingMutants::lastInFirstOut),
                backend(
                        "S12",
                        "a withdrawn waiter is still granted the lock",
                        "S12_aWithdrawnWaiterIsSkipped",
                        WithdrawalMutants::keepsQueueEntry));
    }

    private static LockBackend busyAtFirst(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            private final Set<String> attempted = ConcurrentHashMap.newKeySet();

            @Override
            CompletionStage<AttemptResult> attempt(LockRequest request, Contender contender) {
                return attempted.add(request.name().value())
                        ? CompletableFuture.completedFuture(new AttemptResult.Waiting(Duration.ofMillis(1)))
                        : super.attempt(request, contender);
            }
        };
    }

    private static LockBackend neverWakes(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            @Override
            void wake(ContenderListener core) {}
        };
    }

    /** Like a store whose entries have no time to live. */
    private static LockBackend keepsGrantsForEver(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            @Override
            LockRequest request(LockRequest request) {
                return new ForwardingRequest(request) {
                    @Override
                    public Duration leaseDuration() {
                        return Duration.ofHours(1);
                    }
                };
            }

            @Override
            MonotonicInstant validUntil(LockRequest request, MonotonicInstant until) {
                return LockClock.deadline(connection.context().clock().now(), request.leaseDuration());
            }
        };
    }

    private static LockBackend dropsHintOfWithdrawnWaiter(LockBackend delegate, MutantConnection connection) {
        return new TracksGrants(delegate, connection) {
            private static final String WITHDRAWING = "withdrawing";

            @Override
            CompletionStage<Boolean> endUndelivered(LockRequest request, Contender contender) {
                connection.shared().put(WITHDRAWING, 1L);
                try {
                    return contender.end();
                } finally {
                    connection.shared().remove(WITHDRAWING);
                }
            }

            @Override
            boolean mayWake() {
                return !connection.shared().containsKey(WITHDRAWING);
            }
        };
    }

    private static LockBackend forcesSilently(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            private static final String FORCED = "forced";

            @Override
            void wake(ContenderListener core) {
                if (!connection.shared().containsKey(FORCED)) {
                    core.wake();
                }
            }

            @Override
            public Optional<LockAdmin> admin() {
                return delegate.admin().map(admin -> new ForwardingAdmin(admin) {
                    @Override
                    public CompletableFuture<Boolean> forceRelease(String name, LockHolder seen) {
                        connection.shared().put(FORCED, 1L);
                        try {
                            return super.forceRelease(name, seen);
                        } finally {
                            connection.shared().remove(FORCED);
                        }
                    }
                });
            }
        };
    }

    /** Wakes the waiter that was queued last. */
    private static LockBackend lastInFirstOut(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            private final Deque<ContenderListener> stack = new ConcurrentLinkedDeque<>();

            @Override
            LockRequest request(LockRequest request) {
                return new ForwardingRequest(request) {
                    @Override
                    public boolean mayWait() {
                        return false; // keeps waiters out of the store's queue
                    }
                };
            }

            @Override
            ContenderListener listener(LockRequest request, ContenderListener core) {
                stack.push(core);
                return core;
            }

            @Override
            CompletionStage<Boolean> end(LockRequest request, Contender contender) {
                return super.end(request, contender).whenComplete((was, failure) -> {
                    ContenderListener last = stack.poll();
                    if (last != null) {
                        last.wake();
                    }
                });
            }
        };
    }

    /** Forwards every call to another request; mutants override single methods. */
    static class ForwardingRequest implements LockRequest {
        final LockRequest delegate;

        ForwardingRequest(LockRequest delegate) {
            this.delegate = delegate;
        }

        @Override
        public LockName name() {
            return delegate.name();
        }

        @Override
        public String attemptId() {
            return delegate.attemptId();
        }

        @Override
        public String ownerRecord() {
            return delegate.ownerRecord();
        }

        @Override
        public Duration leaseDuration() {
            return delegate.leaseDuration();
        }

        @Override
        public boolean mayWait() {
            return delegate.mayWait();
        }
    }

    private static DistributedLock waitsTwice(DistributedLock delegate, UnaryOperator<Lease> wrapper) {
        return new ForwardingLock(delegate, wrapper) {
            @Override
            public Optional<Lease> tryAcquire(Duration maxWait) throws InterruptedException {
                Optional<Lease> first = super.tryAcquire(maxWait); // waits for other callers of this process
                return first.isPresent() ? first : super.tryAcquire(maxWait); // waits for other processes
            }
        };
    }

    private static DistributedLock doesNotWait(DistributedLock delegate, UnaryOperator<Lease> wrapper) {
        return new ForwardingLock(delegate, wrapper) {
            @Override
            public Optional<Lease> tryAcquire(Duration maxWait) throws InterruptedException {
                return super.tryAcquire();
            }
        };
    }

    private static DistributedLock waitsALittle(DistributedLock delegate, UnaryOperator<Lease> wrapper) {
        return new ForwardingLock(delegate, wrapper) {
            @Override
            public Optional<Lease> tryAcquire(Duration maxWait) throws InterruptedException {
                return super.tryAcquire(maxWait.isZero() ? Duration.ofMillis(400) : maxWait);
            }
        };
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import static io.mortise.lock.proof.mutants.Mutant.backend;
import static io.mortise.lock.proof.mutants.Mutant.client;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockHolder;
import io.mortise.lock.proof.mutants.LossMutants.Forwarding;
import io.mortise.lock.proof.mutants.WithdrawalMutants.Collecting;
import io.mortise.lock.proof.mutants.WithdrawalMutants.Locks;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.MonotonicTime;
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

/** How long a wait takes, who is woken, and in which order: S09, S11 and S12. */
final class WaitingMutants {
    private WaitingMutants() {}

    static List<Mutant> all() {
        return List.of(
                client(
                        "S09",
                        "a wait may take twice its bound",
                        "S09_aBoundedWaitEndsAtItsBound",
                        honest -> new Locks(honest, WaitsTwice::new)),
                client(
                        "S09",
                        "a bounded wait is one attempt",
                        "S09_aBoundedWaitEndsAtItsBound",
                        honest -> new Locks(honest, DoesNotWait::new)),
                client(
                        "S09",
                        "one attempt waits a little",
                        "S09_zeroIsOneAttempt",
                        honest -> new Locks(honest, WaitsALittle::new)),
                backend(
                        "S09",
                        "the first attempt always says busy",
                        "S09_aFreeLockIsHadAtTheFirstAttempt",
                        WaitingMutants::busyAtFirst),
                backend("S11", "no waiter is ever woken", "S11_aReleaseWakesTheNextWaiter", WaitingMutants::neverWakes),
                backend(
                        "S11",
                        "a crashed holder's lock is never taken over",
                        "S02_aSilentHolderStopsBelievingBeforeTheNextIsGranted",
                        WaitingMutants::keepsGrantsForEver),
                backend(
                        "S11",
                        "a hint for a waiter that leaves is lost to those behind it",
                        "S11_aWaiterThatLeavesPassesTheHintOn",
                        WaitingMutants::dropsTheHintOfOneThatLeaves),
                backend(
                        "S11",
                        "a forced release wakes nobody",
                        "S11_aForcedReleaseWakesTheNextWaiter",
                        WaitingMutants::forcesSilently),
                backend(
                        "S12",
                        "the last to come is the first to be served",
                        "S12_oneClientIsGrantedInTheOrderOfAsking",
                        WaitingMutants::lastInFirstOut),
                backend(
                        "S12",
                        "a waiter that left is served all the same",
                        "S12_aWaiterThatLeftIsSkipped",
                        WithdrawalMutants::keepsThePlace));
    }

    private static LockBackend busyAtFirst(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            private final Set<String> asked = ConcurrentHashMap.newKeySet();

            @Override
            CompletionStage<AttemptResult> attempt(LockRequest request, Contender contender) {
                return asked.add(request.name().value())
                        ? CompletableFuture.completedFuture(new AttemptResult.Waiting(Duration.ofMillis(1)))
                        : super.attempt(request, contender);
            }
        };
    }

    private static LockBackend neverWakes(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            @Override
            ContenderListener heard(LockRequest request, ContenderListener core) {
                return new Forwarding(core) {
                    @Override
                    public void wake() {}
                };
            }
        };
    }

    /** An entry without a time to live. */
    private static LockBackend keepsGrantsForEver(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            @Override
            LockRequest asked(LockRequest request) {
                return new Forwarded(request) {
                    @Override
                    public Duration leaseDuration() {
                        return Duration.ofHours(1);
                    }
                };
            }

            @Override
            MonotonicTime validUntil(LockRequest request, MonotonicTime until) {
                return LockClock.deadline(connection.context().clock().now(), request.leaseDuration());
            }
        };
    }

    private static LockBackend dropsTheHintOfOneThatLeaves(LockBackend honest, MutantConnection connection) {
        return new Collecting(honest, connection) {
            private static final String LEAVING = "leaving";

            @Override
            CompletionStage<Boolean> endUncollected(LockRequest request, Contender contender) {
                connection.shared().put(LEAVING, 1L);
                try {
                    return contender.end();
                } finally {
                    connection.shared().remove(LEAVING);
                }
            }

            @Override
            boolean passes() {
                return !connection.shared().containsKey(LEAVING);
            }
        };
    }

    private static LockBackend forcesSilently(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            private static final String FORCED = "forced";

            @Override
            ContenderListener heard(LockRequest request, ContenderListener core) {
                return new Forwarding(core) {
                    @Override
                    public void wake() {
                        if (!connection.shared().containsKey(FORCED)) {
                            core.wake();
                        }
                    }
                };
            }

            @Override
            public Optional<LockAdmin> admin() {
                return honest.admin().map(admin -> new ForwardingAdmin(admin) {
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

    /** Whoever asked last has the shortest way. */
    private static LockBackend lastInFirstOut(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            private final Deque<ContenderListener> stack = new ConcurrentLinkedDeque<>();

            @Override
            LockRequest asked(LockRequest request) {
                return new Forwarded(request) {
                    @Override
                    public boolean mayWait() {
                        return false; // never in the store's own queue
                    }
                };
            }

            @Override
            ContenderListener heard(LockRequest request, ContenderListener core) {
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

    /** Passes everything on. */
    static class Forwarded implements LockRequest {
        final LockRequest honest;

        Forwarded(LockRequest honest) {
            this.honest = honest;
        }

        @Override
        public LockName name() {
            return honest.name();
        }

        @Override
        public String attemptId() {
            return honest.attemptId();
        }

        @Override
        public String ownerRecord() {
            return honest.ownerRecord();
        }

        @Override
        public Duration leaseDuration() {
            return honest.leaseDuration();
        }

        @Override
        public boolean mayWait() {
            return honest.mayWait();
        }
    }

    private static final class WaitsTwice extends ForwardingLock {
        WaitsTwice(DistributedLock honest, UnaryOperator<Lease> dress) {
            super(honest, dress);
        }

        @Override
        public Optional<Lease> tryAcquire(Duration maxWait) throws InterruptedException {
            Optional<Lease> first = super.tryAcquire(maxWait); // for the others of this process
            return first.isPresent() ? first : super.tryAcquire(maxWait); // for the other processes
        }
    }

    private static final class DoesNotWait extends ForwardingLock {
        DoesNotWait(DistributedLock honest, UnaryOperator<Lease> dress) {
            super(honest, dress);
        }

        @Override
        public Optional<Lease> tryAcquire(Duration maxWait) throws InterruptedException {
            return super.tryAcquire();
        }
    }

    private static final class WaitsALittle extends ForwardingLock {
        WaitsALittle(DistributedLock honest, UnaryOperator<Lease> dress) {
            super(honest, dress);
        }

        @Override
        public Optional<Lease> tryAcquire(Duration maxWait) throws InterruptedException {
            return super.tryAcquire(maxWait.isZero() ? Duration.ofMillis(400) : maxWait);
        }
    }
}

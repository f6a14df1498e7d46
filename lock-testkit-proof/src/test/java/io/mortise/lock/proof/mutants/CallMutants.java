// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import static io.mortise.lock.proof.mutants.Mutant.backend;
import static io.mortise.lock.proof.mutants.Mutant.client;

import io.mortise.lock.Capability;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LeaseAction;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.proof.mutants.NameMutants.Unclaimed;
import io.mortise.lock.proof.mutants.WithdrawalMutants.Locks;
import io.mortise.lock.spi.LockBackend;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/** Callback forms, and capabilities both ways: promises without a number. */
final class CallMutants {
    private CallMutants() {}

    static List<Mutant> all() {
        return List.of(
                client(
                        "callAsync",
                        "the lease is released as soon as the body returns",
                        "callAsync_holdsUntilItsStageEnds",
                        honest -> new Locks(honest, ReleasesAtOnce::new)),
                client(
                        "callAsync",
                        "a body that fails keeps the lock",
                        "callAsync_releasesWhenTheBodyOrItsStageFails",
                        honest -> new Locks(honest, KeepsWhatFailed::new)),
                client(
                        "S07",
                        "user code runs on the thread that reads the answers",
                        "S07_aCallbackMayWaitForTheStoreAlsoOnADirectExecutor",
                        honest -> new Locks(honest, AnswersOnOneThread::new)),
                client(
                        "call",
                        "a loss under the body is not told",
                        "call_tellsThatTheLeaseWasLostMeanwhile",
                        honest -> new Locks(honest, HidesTheLoss::new)),
                client(
                        "capabilities",
                        "tokens are given though that is not claimed",
                        "capabilities_fencingIsThereOrRefused",
                        honest -> new Unclaimed(honest, Capability.FENCING)),
                backend(
                        "capabilities",
                        "lists are claimed and refused",
                        "capabilities_listIsThereOrRefused",
                        CallMutants::refusesLists));
    }

    private static LockBackend refusesLists(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            @Override
            public Optional<LockAdmin> admin() {
                return honest.admin().map(admin -> new ForwardingAdmin(admin) {
                    @Override
                    public CompletableFuture<Page> list(String prefix, int limit, String cursor) {
                        return CompletableFuture.failedFuture(new UnsupportedOperationException("list"));
                    }
                });
            }
        };
    }

    private static final class ReleasesAtOnce extends ForwardingLock {
        ReleasesAtOnce(DistributedLock honest, UnaryOperator<Lease> dress) {
            super(honest, dress);
        }

        @Override
        public <T> CompletableFuture<T> callAsync(Function<? super Lease, ? extends CompletionStage<T>> body) {
            return acquireAsync().thenCompose(lease -> {
                try {
                    return body.apply(lease);
                } finally {
                    lease.release();
                }
            });
        }
    }

    private static final class AnswersOnOneThread extends ForwardingLock {
        AnswersOnOneThread(DistributedLock honest, UnaryOperator<Lease> dress) {
            this(honest, dress, Executors.newSingleThreadExecutor(task -> {
                Thread thread = new Thread(task, "reads answers");
                thread.setDaemon(true);
                return thread;
            }));
        }

        private AnswersOnOneThread(DistributedLock honest, UnaryOperator<Lease> dress, Executor reader) {
            super(honest, lease -> new ForwardingLease(dress.apply(lease)) {
                @Override
                public ReleaseOutcome release() {
                    return CompletableFuture.supplyAsync(super::release, reader).join();
                }
            });
            this.reader = reader;
        }

        private final Executor reader;

        @Override
        public CompletableFuture<Lease> acquireAsync() {
            CompletableFuture<Lease> seen = new CompletableFuture<>();
            super.acquireAsync().whenCompleteAsync((lease, failure) -> seen.complete(lease), reader);
            return seen;
        }
    }

    private static final class KeepsWhatFailed extends ForwardingLock {
        KeepsWhatFailed(DistributedLock honest, UnaryOperator<Lease> dress) {
            super(honest, dress);
        }

        @Override
        public <T> CompletableFuture<T> callAsync(Function<? super Lease, ? extends CompletionStage<T>> body) {
            CompletableFuture<T> result = new CompletableFuture<>();
            acquireAsync().whenComplete((lease, failure) -> {
                try {
                    body.apply(lease).whenComplete((value, bodys) -> {
                        if (bodys == null) {
                            lease.releaseAsync().thenRun(() -> result.complete(value));
                        } else {
                            result.completeExceptionally(bodys);
                        }
                    });
                } catch (RuntimeException e) {
                    result.completeExceptionally(e);
                }
            });
            return result;
        }
    }

    private static final class HidesTheLoss extends ForwardingLock {
        HidesTheLoss(DistributedLock honest, UnaryOperator<Lease> dress) {
            super(honest, dress);
        }

        @Override
        public <X extends Exception> void run(LeaseAction<X> body) throws X, InterruptedException {
            try (Lease lease = acquire()) {
                body.run(lease);
            }
        }
    }
}

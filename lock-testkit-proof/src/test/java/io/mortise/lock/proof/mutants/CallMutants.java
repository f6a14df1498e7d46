// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import static io.mortise.lock.proof.mutants.WrapperMutant.backend;
import static io.mortise.lock.proof.mutants.WrapperMutant.client;

import io.mortise.lock.Capability;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LeaseAction;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.proof.mutants.NameMutants.HidesCapability;
import io.mortise.lock.proof.mutants.WithdrawalMutants.WrongLocksClient;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/** Deliberately defective backends and clients that break {@code call}, {@code callAsync}, callbacks or claimed capabilities. */
final class CallMutants {
    private CallMutants() {}

    static List<WrapperMutant> all() {
        return List.of(
                client(
                        "callAsync",
                        "the lease is released as soon as the body returns",
                        "callAsync_holdsUntilItsStageEnds",
                        delegate -> new WrongLocksClient(delegate, CallMutants::releasesAtOnce)),
                client(
                        "callAsync",
                        "a body that fails keeps the lock",
                        "callAsync_releasesWhenTheBodyOrItsStageFails",
                        delegate -> new WrongLocksClient(delegate, CallMutants::keepsLockAfterFailure)),
                client(
                        "S07",
                        "user code runs on the thread that reads the store's replies",
                        "S07_aCallbackMayBlockOnTheStoreEvenOnADirectExecutor",
                        delegate -> new WrongLocksClient(delegate, RunsCallbacksOnReaderThread::new)),
                client(
                        "call",
                        "a loss during the body is not reported",
                        "call_reportsALossDuringTheBody",
                        delegate -> new WrongLocksClient(delegate, CallMutants::hidesLoss)),
                client(
                        "capabilities",
                        "tokens are returned though FENCING is not claimed",
                        "capabilities_fencingWorksOrIsRefused",
                        delegate -> new HidesCapability(delegate, Capability.FENCING)),
                backend(
                        "capabilities",
                        "LIST is claimed but not supported",
                        "capabilities_listWorksOrIsRefused",
                        OperatorMutants.admin(delegate -> new ForwardingAdmin(delegate) {
                            @Override
                            public CompletableFuture<Page> list(String prefix, int limit, String cursor) {
                                return CompletableFuture.failedFuture(new UnsupportedOperationException("list"));
                            }
                        })));
    }

    private static DistributedLock releasesAtOnce(DistributedLock delegate, UnaryOperator<Lease> wrapper) {
        return new ForwardingLock(delegate, wrapper) {
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
        };
    }

    private static final class RunsCallbacksOnReaderThread extends ForwardingLock {
        RunsCallbacksOnReaderThread(DistributedLock delegate, UnaryOperator<Lease> wrapper) {
            this(delegate, wrapper, Executors.newSingleThreadExecutor(task -> {
                Thread thread = new Thread(task, "reads replies");
                thread.setDaemon(true);
                return thread;
            }));
        }

        private RunsCallbacksOnReaderThread(DistributedLock delegate, UnaryOperator<Lease> wrapper, Executor reader) {
            super(delegate, lease -> new ForwardingLease(wrapper.apply(lease)) {
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

    private static DistributedLock keepsLockAfterFailure(DistributedLock delegate, UnaryOperator<Lease> wrapper) {
        return new ForwardingLock(delegate, wrapper) {
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
        };
    }

    private static DistributedLock hidesLoss(DistributedLock delegate, UnaryOperator<Lease> wrapper) {
        return new ForwardingLock(delegate, wrapper) {
            @Override
            public <X extends Exception> void run(LeaseAction<X> body) throws X, InterruptedException {
                try (Lease lease = acquire()) {
                    body.run(lease);
                }
            }
        };
    }
}

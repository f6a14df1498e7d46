// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import static io.mortise.lock.proof.mutants.Mutant.backend;
import static io.mortise.lock.proof.mutants.Mutant.client;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LossReason;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockRequest;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/** What becomes of a store that does not answer, and of a client that closes: S15 and S16. */
final class OutageMutants {
    private OutageMutants() {}

    static List<Mutant> all() {
        return List.of(
                backend(
                        "S15",
                        "no answer counts as busy",
                        "S09_waitsOnASilentStoreAreBounded",
                        OutageMutants::silenceIsBusy),
                backend(
                        "S15",
                        "no answer counts as a refusal",
                        "S09_waitsOnASilentStoreAreBounded",
                        OutageMutants::silenceIsRefusal),
                backend(
                        "S15",
                        "a request has no deadline",
                        "S15_anUnboundedWaitOnASilentStoreFails",
                        OutageMutants::waitsForEver),
                client(
                        "S16",
                        "a client that closes leaves its waiters waiting",
                        "S16_waitersFailAndNothingCanBeAskedAnyMore",
                        honest -> new ForwardingClient(honest) {
                            @Override
                            public void close() {}
                        }),
                client("S16", "a second close throws", "S16_holdersAreToldAndTheirLocksAreFreeAtOnce", ClosesOnce::new),
                client(
                        "S16",
                        "a client that closes waits for its holders",
                        "S16_holdersAreToldAndTheirLocksAreFreeAtOnce",
                        WaitsForItsHolders::new),
                client(
                        "S16",
                        "a client that closes leaves its locks to expiry",
                        "S16_holdersAreToldAndTheirLocksAreFreeAtOnce",
                        LeavesItsLocks::new),
                backend(
                        "S16",
                        "a thread outlives its client",
                        "S16_theClientsThreadsEnd",
                        OutageMutants::leavesAThread));
    }

    private static LockBackend silenceIsBusy(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            @Override
            CompletionStage<AttemptResult> attempt(LockRequest request, Contender contender) {
                return super.attempt(request, contender)
                        .exceptionally(failure -> new AttemptResult.Waiting(Duration.ofMillis(100)));
            }
        };
    }

    private static LockBackend silenceIsRefusal(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            @Override
            CompletionStage<AttemptResult> attempt(LockRequest request, Contender contender) {
                return super.attempt(request, contender)
                        .exceptionallyCompose(failure ->
                                CompletableFuture.failedFuture(new IllegalStateException("timed out", failure)));
            }
        };
    }

    private static LockBackend waitsForEver(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            @Override
            CompletionStage<AttemptResult> attempt(LockRequest request, Contender contender) {
                CompletableFuture<AttemptResult> answer = new CompletableFuture<>();
                super.attempt(request, contender).thenAccept(answer::complete);
                return answer;
            }
        };
    }

    private static LockBackend leavesAThread(LockBackend honest, MutantConnection connection) {
        Thread reader = new Thread(LockSupport::park, "reader");
        reader.setDaemon(true);
        reader.start();
        return new ForwardingBackend(honest, connection);
    }

    private static final class ClosesOnce extends ForwardingClient {
        private final AtomicBoolean closed = new AtomicBoolean();

        ClosesOnce(LockClient honest) {
            super(honest);
        }

        @Override
        public void close() {
            if (closed.getAndSet(true)) {
                throw new IllegalStateException("closed already");
            }
            super.close();
        }
    }

    /** Its holders hear of the close; the store does not. */
    private static final class LeavesItsLocks extends ForwardingClient {
        private final CompletableFuture<LossReason> closed = new CompletableFuture<>();

        LeavesItsLocks(LockClient honest) {
            super(honest);
        }

        @Override
        Lease lease(Lease honest) {
            return new ForwardingLease(honest) {
                @Override
                public boolean isHeld() {
                    return !closed.isDone() && super.isHeld();
                }

                @Override
                public CompletableFuture<LossReason> lost() {
                    return closed;
                }
            };
        }

        @Override
        public void close() {
            closed.complete(new LossReason(LossReason.Kind.CLIENT_CLOSED, "the client was closed"));
        }
    }

    /** As an orderly shutdown, which work that hangs can hold up. */
    private static final class WaitsForItsHolders extends ForwardingClient {
        private final Set<Lease> given = ConcurrentHashMap.newKeySet();

        WaitsForItsHolders(LockClient honest) {
            super(honest);
        }

        @Override
        Lease lease(Lease honest) {
            given.add(honest);
            return super.lease(honest);
        }

        @Override
        public void close() {
            long start = System.nanoTime();
            while (given.stream().anyMatch(Lease::isHeld)
                    && System.nanoTime() - start < Duration.ofMillis(5_200).toNanos()) {
                LockSupport.parkNanos(1_000_000);
            }
            super.close();
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import static io.mortise.lock.proof.mutants.WrapperMutant.backend;
import static io.mortise.lock.proof.mutants.WrapperMutant.client;

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

/** Deliberately defective backends and clients that handle an outage or {@code close} wrongly. Rules S15 and S16. */
final class OutageMutants {
    private OutageMutants() {}

    static List<WrapperMutant> all() {
        return List.of(
                backend(
                        "S15",
                        "a missing reply is reported as busy",
                        "S09_waitsOnASilentStoreAreBounded",
                        OutageMutants::timeoutIsBusy),
                backend(
                        "S15",
                        "a missing reply is reported as an unexpected exception",
                        "S09_waitsOnASilentStoreAreBounded",
                        OutageMutants::timeoutIsUnexpectedFailure),
                backend(
                        "S15",
                        "a request has no deadline",
                        "S15_anUnboundedWaitOnASilentStoreFails",
                        OutageMutants::waitsForEver),
                client(
                        "S16",
                        "closing a client does not end its waits",
                        "S16_waitersAndLaterRequestsFail",
                        delegate -> new ForwardingClient(delegate) {
                            @Override
                            public void close() {}
                        }),
                client(
                        "S16",
                        "a second close throws",
                        "S16_closeNotifiesHoldersAndFreesTheirLocksAtOnce",
                        OutageMutants::closesOnce),
                client(
                        "S16",
                        "closing a client waits for its holders",
                        "S16_closeNotifiesHoldersAndFreesTheirLocksAtOnce",
                        OutageMutants::waitsForHolders),
                client(
                        "S16",
                        "closing a client does not release its locks",
                        "S16_closeNotifiesHoldersAndFreesTheirLocksAtOnce",
                        OutageMutants::keepsLocksOnClose),
                backend(
                        "S16",
                        "a thread outlives its client",
                        "S16_theClientsThreadsEnd",
                        OutageMutants::leaksAThread));
    }

    private static LockBackend timeoutIsBusy(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            @Override
            CompletionStage<AttemptResult> attempt(LockRequest request, Contender contender) {
                return super.attempt(request, contender)
                        .exceptionally(failure -> new AttemptResult.Waiting(Duration.ofMillis(100)));
            }
        };
    }

    private static LockBackend timeoutIsUnexpectedFailure(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            @Override
            CompletionStage<AttemptResult> attempt(LockRequest request, Contender contender) {
                return super.attempt(request, contender)
                        .exceptionallyCompose(failure ->
                                CompletableFuture.failedFuture(new IllegalStateException("timed out", failure)));
            }
        };
    }

    private static LockBackend waitsForEver(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            @Override
            CompletionStage<AttemptResult> attempt(LockRequest request, Contender contender) {
                CompletableFuture<AttemptResult> reply = new CompletableFuture<>();
                super.attempt(request, contender).thenAccept(reply::complete);
                return reply;
            }
        };
    }

    private static LockBackend leaksAThread(LockBackend delegate, MutantConnection connection) {
        Thread reader = new Thread(LockSupport::park, "reader");
        reader.setDaemon(true);
        reader.start();
        return new ForwardingBackend(delegate, connection);
    }

    private static LockClient closesOnce(LockClient delegate) {
        return new ForwardingClient(delegate) {
            private final AtomicBoolean closed = new AtomicBoolean();

            @Override
            public void close() {
                if (closed.getAndSet(true)) {
                    throw new IllegalStateException("closed already");
                }
                super.close();
            }
        };
    }

    /** Notifies the holders of the close, but does not release their grants in the store. */
    private static LockClient keepsLocksOnClose(LockClient delegate) {
        return new ForwardingClient(delegate) {
            private final CompletableFuture<LossReason> closed = new CompletableFuture<>();

            @Override
            Lease lease(Lease delegate) {
                return new ForwardingLease(delegate) {
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
        };
    }

    /** Like an orderly shutdown, which a holder that hangs can delay. */
    private static LockClient waitsForHolders(LockClient delegate) {
        return new ForwardingClient(delegate) {
            private final Set<Lease> leases = ConcurrentHashMap.newKeySet();

            @Override
            Lease lease(Lease delegate) {
                leases.add(delegate);
                return super.lease(delegate);
            }

            @Override
            public void close() {
                long start = System.nanoTime();
                while (leases.stream().anyMatch(Lease::isHeld)
                        && System.nanoTime() - start < Duration.ofMillis(5_200).toNanos()) {
                    LockSupport.parkNanos(1_000_000);
                }
                super.close();
            }
        };
    }
}

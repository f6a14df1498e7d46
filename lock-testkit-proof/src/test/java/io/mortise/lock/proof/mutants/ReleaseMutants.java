// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import static io.mortise.lock.proof.mutants.Mutant.backend;
import static io.mortise.lock.proof.mutants.Mutant.client;

import io.mortise.lock.Lease;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockRequest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/** How a lease is given back: S05. */
final class ReleaseMutants {
    private static final String STALE = "S05_aStaleReleaseAfterATakeoverSparesTheSuccessor";

    private ReleaseMutants() {}

    static List<Mutant> all() {
        return List.of(
                backend(
                        "S05",
                        "a release deletes whoever holds the lock",
                        "S02_aSilentHolderStopsBelievingBeforeTheNextIsGranted",
                        ReleaseMutants::deletesByName),
                client(
                        "S05",
                        "every release reports RELEASED",
                        STALE,
                        honest -> new WrongLeasesClient(honest, AlwaysReleased::new)),
                client(
                        "S05",
                        "a second release reports LOST",
                        "S05_releaseIsIdempotentAndSparesTheSuccessor",
                        honest -> new WrongLeasesClient(honest, LostTheSecondTime::new)),
                backend(
                        "S05",
                        "a release that found its grant reports LOST",
                        "S05_releaseIsIdempotentAndSparesTheSuccessor",
                        (honest, connection) -> new ForwardingBackend(honest, connection) {
                            @Override
                            CompletionStage<Boolean> end(LockRequest request, Contender contender) {
                                return super.end(request, contender).thenApply(was -> false);
                            }
                        }),
                backend(
                        "S05",
                        "a release is reported before it is done",
                        "S05_afterAReleaseTheLockIsFreeAtOnce",
                        ReleaseMutants::reportsTooEarly),
                backend(
                        "S05",
                        "a waiter that leaves takes its own process's grant along",
                        "S05_aWaiterThatLeavesSparesItsOwnClientsLease",
                        ReleaseMutants::removesAllOfTheClient));
    }

    private static LockBackend deletesByName(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            private final Set<String> granted = ConcurrentHashMap.newKeySet();

            @Override
            AttemptResult granted(LockRequest request, AttemptResult.Granted made) {
                granted.add(request.attemptId());
                return super.granted(request, made);
            }

            @Override
            CompletionStage<Boolean> end(LockRequest request, Contender contender) {
                return super.end(request, contender)
                        .thenApply(mine -> mine || (granted.contains(request.attemptId()) && delete(request)));
            }

            private boolean delete(LockRequest request) {
                return connection
                        .store()
                        .faults()
                        .expireUnnoticed(request.name().value());
            }
        };
    }

    private static LockBackend reportsTooEarly(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            @Override
            CompletionStage<Boolean> end(LockRequest request, Contender contender) {
                connection.context().clock().schedule(Duration.ofMillis(20), contender::end);
                return CompletableFuture.completedFuture(true);
            }
        };
    }

    /** As where the entry in the store names the client, not the attempt. */
    private static LockBackend removesAllOfTheClient(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            private final Map<String, Contender> granted = new ConcurrentHashMap<>();

            @Override
            CompletionStage<AttemptResult> attempt(LockRequest request, Contender contender) {
                return super.attempt(request, contender).thenApply(answer -> {
                    if (answer instanceof AttemptResult.Granted) {
                        granted.put(request.name().value(), contender);
                    }
                    return answer;
                });
            }

            @Override
            CompletionStage<Boolean> end(LockRequest request, Contender contender) {
                Contender other = granted.remove(request.name().value());
                if (other != null) {
                    other.end();
                }
                return super.end(request, contender).thenApply(was -> true);
            }
        };
    }

    private static final class AlwaysReleased extends ForwardingLease {
        AlwaysReleased(Lease honest) {
            super(honest);
        }

        @Override
        public ReleaseOutcome release() {
            super.release();
            return ReleaseOutcome.RELEASED;
        }
    }

    private static final class LostTheSecondTime extends ForwardingLease {
        private final AtomicBoolean released = new AtomicBoolean();

        LostTheSecondTime(Lease honest) {
            super(honest);
        }

        @Override
        public ReleaseOutcome release() {
            return released.getAndSet(true) ? ReleaseOutcome.LOST : super.release();
        }
    }
}

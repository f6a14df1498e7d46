// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import static io.mortise.lock.proof.mutants.WrapperMutant.backend;
import static io.mortise.lock.proof.mutants.WrapperMutant.client;

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

/** Deliberately defective backends and clients that release the wrong grant or report a wrong outcome. Rule S05. */
final class ReleaseMutants {
    private static final String STALE = "S05_aStaleReleaseAfterATakeoverSparesTheSuccessor";

    private ReleaseMutants() {}

    static List<WrapperMutant> all() {
        return List.of(
                backend(
                        "S05",
                        "a release deletes the grant of any holder",
                        "S02_aSilentHoldersLeaseEndsBeforeTheNextGrant",
                        ReleaseMutants::deletesByName),
                client(
                        "S05",
                        "every release reports RELEASED",
                        STALE,
                        delegate -> new WrongLeasesClient(delegate, ReleaseMutants::alwaysReleased)),
                client(
                        "S05",
                        "a second release reports LOST",
                        "S05_releaseIsIdempotentAndSparesTheSuccessor",
                        delegate -> new WrongLeasesClient(delegate, ReleaseMutants::lostTheSecondTime)),
                backend(
                        "S05",
                        "a successful release reports LOST",
                        "S05_releaseIsIdempotentAndSparesTheSuccessor",
                        (delegate, connection) -> new ForwardingBackend(delegate, connection) {
                            @Override
                            CompletionStage<Boolean> end(LockRequest request, Contender contender) {
                                return super.end(request, contender).thenApply(was -> false);
                            }
                        }),
                backend(
                        "S05",
                        "a release is reported before it is executed",
                        "S05_afterAReleaseTheLockIsFreeAtOnce",
                        ReleaseMutants::reportsBeforeRelease),
                backend(
                        "S05",
                        "a withdrawal removes a grant of the same client",
                        "S05_aWithdrawalSparesALeaseOfTheSameClient",
                        ReleaseMutants::removesAllOfTheClient));
    }

    private static LockBackend deletesByName(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            private final Set<String> granted = ConcurrentHashMap.newKeySet();

            @Override
            AttemptResult granted(LockRequest request, AttemptResult.Granted result) {
                granted.add(request.attemptId());
                return super.granted(request, result);
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

    private static LockBackend reportsBeforeRelease(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            @Override
            CompletionStage<Boolean> end(LockRequest request, Contender contender) {
                connection.context().clock().schedule(Duration.ofMillis(20), contender::end);
                return CompletableFuture.completedFuture(true);
            }
        };
    }

    /** Like a store whose entries name the client instead of the attempt. */
    private static LockBackend removesAllOfTheClient(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            private final Map<String, Contender> granted = new ConcurrentHashMap<>();

            @Override
            CompletionStage<AttemptResult> attempt(LockRequest request, Contender contender) {
                return super.attempt(request, contender).thenApply(result -> {
                    if (result instanceof AttemptResult.Granted) {
                        granted.put(request.name().value(), contender);
                    }
                    return result;
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

    private static Lease alwaysReleased(Lease delegate) {
        return new ForwardingLease(delegate) {
            @Override
            public ReleaseOutcome release() {
                super.release();
                return ReleaseOutcome.RELEASED;
            }
        };
    }

    private static Lease lostTheSecondTime(Lease delegate) {
        return new ForwardingLease(delegate) {
            private final AtomicBoolean released = new AtomicBoolean();

            @Override
            public ReleaseOutcome release() {
                return released.getAndSet(true) ? ReleaseOutcome.LOST : super.release();
            }
        };
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import static io.mortise.lock.proof.mutants.WrapperMutant.backend;

import io.mortise.lock.LossReason;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * Deliberately defective backends that fail only with late or lost replies, a cut link or a restarted server.
 *
 * <p>Also backends that send too many requests, which only a request count shows.
 */
final class LinkMutants {
    private LinkMutants() {}

    static List<WrapperMutant> all() {
        return List.of(
                backend(
                        "S02",
                        "the deadline counts from the reply",
                        "S02_theDeadlineCountsFromTheSendAndASlowLinkLosesNoLease",
                        LinkMutants::countsFromTheReply),
                backend(
                        "S03",
                        "the token counter is reset when the server restarts",
                        "S03_tokensIncreaseAcrossARestartAndWaitersContinue",
                        LinkMutants::countsInMemory),
                backend(
                        "S05",
                        "a release whose reply was lost is retried and reports LOST",
                        "S05_aReleaseWhoseReplyWasLostDoesNotReportLost",
                        LinkMutants::replaysReleases),
                backend(
                        "S07",
                        "a renewal without a reply counts as a loss",
                        "S07_aRenewalWithoutAReplyIsNoLoss",
                        LinkMutants::unknownIsLost),
                backend(
                        "S08",
                        "an attempt without a reply is not cleaned up",
                        "S08_anAcquireThatGaveUpOnALostReplyLeavesNoOrphan",
                        LinkMutants::forgetsUncertainAttempts),
                backend(
                        "S08",
                        "an attempt without a reply is retried under another id",
                        "S08_anAcquireIsGrantedThoughItsReplyWasLost",
                        LinkMutants::retriesUnderAnotherId),
                backend(
                        "S08",
                        "a failed release is not cleaned up",
                        "S08_aReleaseDuringACutIsBoundedAndCleanedUp",
                        LinkMutants::forgetsFailedReleases),
                backend(
                        "S16",
                        "closing waits for a reply of the store",
                        "S16_closeOnASilentStoreIsBounded",
                        LinkMutants::waitsForReplyOnClose),
                backend(
                        "S11",
                        "waiters poll every 100 ms",
                        "S11_waitersDoNotPollAndHandOversTakeFewRequests",
                        LinkMutants::polls),
                backend(
                        "S11",
                        "a release wakes all waiters",
                        "S11_waitersDoNotPollAndHandOversTakeFewRequests",
                        LinkMutants::wakesAllWaiters));
    }

    private static LockBackend countsFromTheReply(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            @Override
            MonotonicInstant validUntil(LockRequest request, MonotonicInstant until) {
                return LockClock.deadline(connection.context().clock().now(), request.leaseDuration());
            }
        };
    }

    private static LockBackend countsInMemory(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            @Override
            AttemptResult granted(LockRequest request, AttemptResult.Granted granted) {
                long token = connection.shared().merge("counter", 1L, Long::sum);
                return super.granted(request, new AttemptResult.Granted(token, granted.validity()));
            }
        };
    }

    /** Like a client library that automatically resends a request that got no reply for a while. */
    private static LockBackend replaysReleases(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            @Override
            CompletionStage<Boolean> end(LockRequest request, Contender contender) {
                CompletableFuture<Boolean> first = super.end(request, contender).toCompletableFuture();
                CompletableFuture<Boolean> reply = new CompletableFuture<>();
                first.thenAccept(reply::complete);
                connection.context().clock().schedule(Duration.ofMillis(100), () -> {
                    if (!first.isDone()) {
                        contender.end().thenAccept(reply::complete);
                    }
                });
                return reply;
            }
        };
    }

    private static LockBackend unknownIsLost(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            @Override
            void renewalUnknown(GrantValidity validity, Throwable cause) {
                validity.lost(new LossReason(LossReason.Kind.EXPIRED, cause.toString()));
            }
        };
    }

    private static LockBackend forgetsUncertainAttempts(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            private final Set<String> uncertain = ConcurrentHashMap.newKeySet();

            @Override
            CompletionStage<AttemptResult> attempt(LockRequest request, Contender contender) {
                return super.attempt(request, contender).whenComplete((result, failure) -> {
                    if (failure != null) {
                        uncertain.add(request.attemptId());
                    }
                });
            }

            @Override
            CompletionStage<Boolean> end(LockRequest request, Contender contender) {
                return uncertain.contains(request.attemptId())
                        ? CompletableFuture.completedFuture(false)
                        : super.end(request, contender);
            }
        };
    }

    /** The client then waits for its own forgotten grant. */
    private static LockBackend retriesUnderAnotherId(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            private final Map<String, Contender> retries = new ConcurrentHashMap<>();

            @Override
            CompletionStage<AttemptResult> attempt(LockRequest request, Contender contender) {
                String id = request.attemptId();
                return super.attempt(request, retries.getOrDefault(id, contender))
                        .whenComplete((result, failure) -> {
                            if (failure != null) {
                                retries.put(id, delegate.enqueue(request, new ContenderListener() {
                                    @Override
                                    public void wake() {}

                                    @Override
                                    public void lost(LossReason reason) {}
                                }));
                            }
                        });
            }

            @Override
            CompletionStage<Boolean> end(LockRequest request, Contender contender) {
                Contender latest = retries.remove(request.attemptId());
                return super.end(request, latest == null ? contender : latest);
            }
        };
    }

    private static LockBackend waitsForReplyOnClose(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            @Override
            public void close() {
                AtomicBoolean answered = new AtomicBoolean();
                delegate.admin().orElseThrow().diagnose().thenRun(() -> answered.set(true));
                long start = System.nanoTime();
                while (!answered.get()
                        && System.nanoTime() - start < Duration.ofSeconds(6).toNanos()) {
                    LockSupport.parkNanos(1_000_000);
                }
                super.close();
            }
        };
    }

    private static LockBackend forgetsFailedReleases(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            @Override
            CompletionStage<Boolean> end(LockRequest request, Contender contender) {
                return super.end(request, contender).exceptionally(failure -> true);
            }
        };
    }

    private static LockBackend polls(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            @Override
            AttemptResult result(LockRequest request, AttemptResult result) {
                return result instanceof AttemptResult.Waiting
                        ? new AttemptResult.Waiting(Duration.ofMillis(100))
                        : super.result(request, result);
            }

            @Override
            void wake(ContenderListener core) {}
        };
    }

    private static LockBackend wakesAllWaiters(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            @Override
            ContenderListener listener(LockRequest request, ContenderListener core) {
                connection.waiters().add(core);
                return super.listener(request, core);
            }

            @Override
            void wake(ContenderListener core) {
                connection.waiters().forEach(ContenderListener::wake);
            }
        };
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import static io.mortise.lock.proof.mutants.Mutant.backend;

import io.mortise.lock.LossReason;
import io.mortise.lock.proof.mutants.LossMutants.Forwarding;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.MonotonicTime;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/** Defects that show on the wire: replies that are late or lost, a line that is cut, a server that begins anew, its own count. */
final class LinkMutants {
    private LinkMutants() {}

    static List<Mutant> all() {
        return List.of(
                backend(
                        "S02",
                        "the deadline counts from the reply",
                        "S02_theDeadlineCountsFromTheSendAndSlownessLosesNothing",
                        LinkMutants::countsFromTheReply),
                backend(
                        "S03",
                        "the counter begins anew with the server",
                        "S03_tokensRiseOverARestartAndWaitersGoOn",
                        LinkMutants::countsInMemory),
                backend(
                        "S05",
                        "a release whose reply was lost is sent again, and reports LOST",
                        "S05_aReleaseWhoseReplyWasLostIsNotCalledLost",
                        LinkMutants::replaysReleases),
                backend(
                        "S07",
                        "a renewal without an answer counts as a loss",
                        "S07_aRenewalWithoutAnAnswerIsNoLoss",
                        LinkMutants::unknownIsLost),
                backend(
                        "S08",
                        "an attempt without an answer is forgotten",
                        "S08_anAcquireThatGaveUpOnALostReplyLeavesNothing",
                        LinkMutants::forgetsDoubtfulAttempts),
                backend(
                        "S08",
                        "an attempt without an answer is made anew under another id",
                        "S08_anAcquireIsGrantedThoughItsReplyWasLost",
                        LinkMutants::asksUnderAnotherId),
                backend(
                        "S08",
                        "a release that failed is forgotten",
                        "S08_aReleaseDuringACutIsBoundedAndCleanedUp",
                        LinkMutants::forgetsFailedReleases),
                backend(
                        "S16",
                        "a connection ends once the store has said goodbye",
                        "S16_closeOnASilentStoreIsBounded",
                        LinkMutants::waitsForAGoodbye),
                backend(
                        "S11",
                        "waiters ask every 100 ms",
                        "S11_waitersAreSilentAndHandOversAreCheap",
                        LinkMutants::polls),
                backend(
                        "S11",
                        "a release wakes everybody who waits",
                        "S11_waitersAreSilentAndHandOversAreCheap",
                        LinkMutants::wakesEverybody));
    }

    private static LockBackend countsFromTheReply(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            @Override
            MonotonicTime validUntil(LockRequest request, MonotonicTime until) {
                return LockClock.deadline(connection.context().clock().now(), request.leaseDuration());
            }
        };
    }

    private static LockBackend countsInMemory(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            @Override
            AttemptResult granted(LockRequest request, AttemptResult.Granted granted) {
                long token = connection.shared().merge("counter", 1L, Long::sum);
                return super.granted(request, new AttemptResult.Granted(token, granted.validity()));
            }
        };
    }

    /** As a client library that sends again by itself what had no answer for a while. */
    private static LockBackend replaysReleases(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            @Override
            CompletionStage<Boolean> end(LockRequest request, Contender contender) {
                CompletableFuture<Boolean> first = super.end(request, contender).toCompletableFuture();
                CompletableFuture<Boolean> answer = new CompletableFuture<>();
                first.thenAccept(answer::complete);
                connection.context().clock().schedule(Duration.ofMillis(100), () -> {
                    if (!first.isDone()) {
                        contender.end().thenAccept(answer::complete);
                    }
                });
                return answer;
            }
        };
    }

    private static LockBackend unknownIsLost(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            @Override
            void renewalUnknown(GrantValidity validity, Throwable cause) {
                validity.lost(new LossReason(LossReason.Kind.EXPIRED, cause.toString()));
            }
        };
    }

    private static LockBackend forgetsDoubtfulAttempts(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            private final Set<String> doubtful = ConcurrentHashMap.newKeySet();

            @Override
            CompletionStage<AttemptResult> attempt(LockRequest request, Contender contender) {
                return super.attempt(request, contender).whenComplete((answer, failure) -> {
                    if (failure != null) {
                        doubtful.add(request.attemptId());
                    }
                });
            }

            @Override
            CompletionStage<Boolean> end(LockRequest request, Contender contender) {
                return doubtful.contains(request.attemptId())
                        ? CompletableFuture.completedFuture(false)
                        : super.end(request, contender);
            }
        };
    }

    /** Its own forgotten grant is then what it waits for. */
    private static LockBackend asksUnderAnotherId(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            private final Map<String, Contender> anew = new ConcurrentHashMap<>();

            @Override
            CompletionStage<AttemptResult> attempt(LockRequest request, Contender contender) {
                String id = request.attemptId();
                return super.attempt(request, anew.getOrDefault(id, contender)).whenComplete((answer, failure) -> {
                    if (failure != null) {
                        anew.put(id, honest.enqueue(request, new ContenderListener() {
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
                Contender latest = anew.remove(request.attemptId());
                return super.end(request, latest == null ? contender : latest);
            }
        };
    }

    private static LockBackend waitsForAGoodbye(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            @Override
            public void close() {
                AtomicBoolean answered = new AtomicBoolean();
                honest.admin().orElseThrow().diagnose().thenRun(() -> answered.set(true));
                long start = System.nanoTime();
                while (!answered.get()
                        && System.nanoTime() - start < Duration.ofSeconds(6).toNanos()) {
                    LockSupport.parkNanos(1_000_000);
                }
                super.close();
            }
        };
    }

    private static LockBackend forgetsFailedReleases(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            @Override
            CompletionStage<Boolean> end(LockRequest request, Contender contender) {
                return super.end(request, contender).exceptionally(failure -> true);
            }
        };
    }

    private static LockBackend polls(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            @Override
            AttemptResult answered(LockRequest request, AttemptResult answer) {
                return answer instanceof AttemptResult.Waiting
                        ? new AttemptResult.Waiting(Duration.ofMillis(100))
                        : super.answered(request, answer);
            }

            @Override
            ContenderListener heard(LockRequest request, ContenderListener core) {
                return new Forwarding(core) {
                    @Override
                    public void wake() {}
                };
            }
        };
    }

    private static LockBackend wakesEverybody(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            @Override
            ContenderListener heard(LockRequest request, ContenderListener core) {
                connection.waiters().add(core);
                return new Forwarding(core) {
                    @Override
                    public void wake() {
                        connection.waiters().forEach(ContenderListener::wake);
                    }
                };
            }
        };
    }
}

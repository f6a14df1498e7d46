// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.redlock.vote.Quorum;
import io.mortise.lock.redlock.vote.YesNoTally;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.MonotonicTime;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Releases or withdraws an attempt at all masters at once, and completes when a majority has answered. The cleanup at the others
 * goes on in the background.
 */
final class ReleaseRound {
    private static final Duration RETRY_DELAY = Duration.ofMillis(50);

    private final RedlockContender contender;
    private final List<AttemptAtMaster> parts;
    private final BackendContext context;
    private final String operation;
    private final Quorum quorum;
    private final YesNoTally held;
    private final MonotonicTime retryUntil;
    private final Queue<String> failed = new ConcurrentLinkedQueue<>();
    private final CompletableFuture<Boolean> outcome = new CompletableFuture<>();

    ReleaseRound(RedlockContender contender, List<AttemptAtMaster> parts, BackendContext context, String operation) {
        this.contender = contender;
        this.parts = parts;
        this.context = context;
        this.operation = operation;
        this.quorum = new Quorum(parts.size());
        this.held = new YesNoTally(quorum);
        this.retryUntil = context.clock()
                .now()
                .plus(context.requestTimeout())
                .minus(parts.get(0).master().node().requestTimeout())
                .minus(RETRY_DELAY);
    }

    /** Completes with whether a majority still granted the lock, as far as is known; fails if no majority answered. */
    CompletionStage<Boolean> start() {
        for (AttemptAtMaster part : parts) {
            if (part.mayHaveOrphans()) {
                release(part, YesNoTally.Answer.NO);
            } else {
                addAnswer(YesNoTally.Answer.NO);
            }
        }
        return outcome;
    }

    /**
     * Releases at one master, and again if it fails while no majority has answered: there is more time than one master gets.
     *
     * @param ifNothingFound answer that counts if nothing was there: after a retry, the first try may have deleted it
     */
    private void release(AttemptAtMaster part, YesNoTally.Answer ifNothingFound) {
        part.removal()
                .release(
                        found -> {
                            if (!found.complete()) {
                                contender.cleanUp(part); // a request without an answer may still be executed
                            }
                            if (!found.held() && ifNothingFound == YesNoTally.Answer.NONE) {
                                addFailed(part, "nothing was left there at the second try");
                            }
                            addAnswer(found.held() ? YesNoTally.Answer.YES : ifNothingFound);
                        },
                        failure -> {
                            if (outcome.isDone() || context.clock().hasPassed(retryUntil)) {
                                contender.cleanUp(part);
                                addFailed(part, String.valueOf(failure.getMessage()));
                                addAnswer(YesNoTally.Answer.NONE);
                            } else {
                                context.clock().schedule(RETRY_DELAY, () -> release(part, YesNoTally.Answer.NONE));
                            }
                        });
    }

    private void addAnswer(YesNoTally.Answer answer) {
        switch (held.add(answer)) {
            case OPEN -> {}
            case ACCEPTED -> outcome.complete(true);
            case REJECTED -> outcome.complete(false);
            case UNDECIDED -> {
                int answers = held.yes() + held.no();
                if (answers >= quorum.majority()) {
                    outcome.complete(held.yes() > 0);
                } else {
                    outcome.completeExceptionally(new BackendUnavailableException(
                            operation + ": " + RoundReport.noQuorumMessage(answers, quorum.masters(), failed)));
                }
            }
        }
    }

    private void addFailed(AttemptAtMaster part, String why) {
        failed.add(RoundReport.failedMaster(part.master().endpoint(), why));
    }
}

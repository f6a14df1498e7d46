// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.redlock.vote.Quorum;
import io.mortise.lock.redlock.vote.YesNoTally;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Sends the release or the withdrawal of one attempt to all masters in parallel, and completes when a majority has replied.
 * The cleanup at the other masters continues in the background.
 */
final class ReleaseRound {
    private static final Duration RETRY_DELAY = Duration.ofMillis(50);

    private final RedlockContender contender;
    private final List<StoredAttemptAtMaster> attempts;
    private final BackendContext context;
    private final String operation;
    private final Quorum quorum;
    private final YesNoTally held;
    private final MonotonicInstant retryUntil;
    private final Queue<String> failed = new ConcurrentLinkedQueue<>();
    private final CompletableFuture<Boolean> outcome = new CompletableFuture<>();

    ReleaseRound(
            RedlockContender contender,
            List<StoredAttemptAtMaster> attempts,
            BackendContext context,
            String operation) {
        this.contender = contender;
        this.attempts = attempts;
        this.context = context;
        this.operation = operation;
        this.quorum = new Quorum(attempts.size());
        this.held = new YesNoTally(quorum);
        this.retryUntil = context.clock()
                .now()
                .plus(context.requestTimeout())
                .minus(attempts.get(0).master().node().requestTimeout())
                .minus(RETRY_DELAY);
    }

    /**
     * Sends all releases. The stage completes with whether a majority still had the grant, as far as is known; it fails if no
     * majority replied.
     */
    CompletionStage<Boolean> start() {
        for (StoredAttemptAtMaster attempt : attempts) {
            if (attempt.mayHaveOrphans()) {
                release(attempt, YesNoTally.Answer.NO);
            } else {
                addAnswer(YesNoTally.Answer.NO);
            }
        }
        return outcome;
    }

    /**
     * Releases at one master. Retries after a failure while no majority has replied, since the request timeout allows for
     * several node timeouts.
     *
     * @param ifNothingFound answer that counts if the master had no grant: on a retry, the first try may have deleted it
     */
    private void release(StoredAttemptAtMaster attempt, YesNoTally.Answer ifNothingFound) {
        attempt.release(
                held -> {
                    if (attempt.mayStillExecute()) {
                        contender.cleanUp(attempt); // a request that was sent earlier may still be executed
                    }
                    if (!held && ifNothingFound == YesNoTally.Answer.NONE) {
                        addFailed(attempt, "a retry of the release found no grant");
                    }
                    addAnswer(held ? YesNoTally.Answer.YES : ifNothingFound);
                },
                failure -> {
                    if (outcome.isDone() || context.clock().hasPassed(retryUntil)) {
                        contender.cleanUp(attempt);
                        addFailed(attempt, String.valueOf(failure.getMessage()));
                        addAnswer(YesNoTally.Answer.NONE);
                    } else {
                        context.clock().schedule(RETRY_DELAY, () -> release(attempt, YesNoTally.Answer.NONE));
                    }
                });
    }

    private void addAnswer(YesNoTally.Answer answer) {
        switch (held.add(answer)) {
            case OPEN -> {}
            case ACCEPTED -> outcome.complete(true);
            case REJECTED -> outcome.complete(false);
            case UNDECIDED -> {
                int replies = held.yes() + held.no();
                if (replies >= quorum.majority()) {
                    outcome.complete(held.yes() > 0);
                } else {
                    outcome.completeExceptionally(new BackendUnavailableException(
                            operation + ": " + RoundReport.noQuorumMessage(replies, quorum.masters(), failed)));
                }
            }
        }
    }

    private void addFailed(StoredAttemptAtMaster attempt, String why) {
        failed.add(RoundReport.failedMaster(attempt.master().endpoint(), why));
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.redis.client.RedisErrors;
import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.redis.script.ReplyHandler;
import io.mortise.lock.redlock.master.MasterHandshakeReply;
import io.mortise.lock.redlock.storage.RedlockScript;
import io.mortise.lock.redlock.vote.Quorum;
import io.mortise.lock.redlock.vote.YesNoTally;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.OwnerRecordCodec;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Releases one grant with a delay at all masters in parallel, and deletes the queue entries of its attempt.
 *
 * <p>The lock stays taken if a majority keeps the grant. The attempt is then cleaned up at the other masters. If a majority does
 * not have the grant, the votes that were kept are deleted. If neither is known, the core repeats the round.
 */
final class DelayedReleaseRound {
    private final RedlockContender contender;
    private final List<StoredAttemptAtMaster> attempts;
    private final String attemptId;
    private final BackendContext context;
    private final String operation;
    private final Duration delay;
    private final Quorum quorum;
    private final YesNoTally kept;
    private final Queue<String> failed = new ConcurrentLinkedQueue<>();
    private final CompletableFuture<Boolean> outcome = new CompletableFuture<>();

    DelayedReleaseRound(
            RedlockContender contender,
            List<StoredAttemptAtMaster> attempts,
            String attemptId,
            BackendContext context,
            String operation,
            Duration delay) {
        this.contender = contender;
        this.attempts = attempts;
        this.attemptId = attemptId;
        this.context = context;
        this.operation = operation;
        this.delay = delay;
        this.quorum = new Quorum(attempts.size());
        this.kept = new YesNoTally(quorum);
    }

    /** Sends all requests. The stage completes with whether a majority keeps the grant; it fails if that is unknown. */
    CompletionStage<Boolean> start() {
        String millis = String.valueOf(Durations.roundUpToMillis(delay).toMillis());
        for (StoredAttemptAtMaster attempt : attempts) {
            if (attempt.mayHaveOrphans()) {
                send(attempt, millis);
            } else {
                add(YesNoTally.Answer.NO);
            }
        }
        return outcome;
    }

    private void send(StoredAttemptAtMaster attempt, String millis) {
        MasterHandshakeReply voting = attempt.master().voting();
        if (voting == null) {
            addFailed(attempt, "it does not vote");
            return;
        }
        String[] args = {attemptId, millis, "", voting.runId()}; // masters may store different tokens for one grant
        voting.node().run(RedlockScript.RELEASE_AFTER.script(), contender.keys().all(), args, new ReplyHandler() {
            @Override
            public void onReply(List<Object> values) {
                if (values.get(0) instanceof String) {
                    contender.enterQuarantine(attempt.master(), voting);
                    addFailed(attempt, "it does not vote");
                } else if (!voting.isCurrent()) {
                    addFailed(attempt, "it was restarted");
                } else {
                    attempt.timeReceived(voting.epoch(), new ServerTime((Long) values.get(1)));
                    addReply(attempt, values.get(0).equals(1L));
                }
            }

            @Override
            public void onFailure(Throwable cause, boolean notExecuted) {
                addFailed(
                        attempt,
                        String.valueOf(RedisErrors.of(
                                        cause, operation, attempt.master().endpoint())
                                .getMessage()));
            }
        });
    }

    private void addReply(StoredAttemptAtMaster attempt, boolean kept) {
        if (attempt.mayStillExecute()) {
            cleanUpOnceDecided(attempt);
        }
        if (kept) {
            deleteUnlessKeptByMajority(attempt);
        }
        add(kept ? YesNoTally.Answer.YES : YesNoTally.Answer.NO);
    }

    private void addFailed(StoredAttemptAtMaster attempt, String why) {
        cleanUpOnceDecided(attempt);
        deleteUnlessKeptByMajority(attempt);
        failed.add(RoundReport.failedMaster(attempt.master().endpoint(), why));
        add(YesNoTally.Answer.NONE);
    }

    /** Removes what the attempt has left at a master, but no vote that is kept, unless the round is repeated. */
    private void cleanUpOnceDecided(StoredAttemptAtMaster attempt) {
        outcome.thenRun(() -> contender.cleanUp(attempt));
    }

    /**
     * Deletes a vote that a master keeps, or may keep if there was no reply, although no majority does. The cleanup of the attempt
     * does not find it. If this request fails for as long as the delay, the vote has ended with it.
     */
    private void deleteUnlessKeptByMajority(StoredAttemptAtMaster attempt) {
        outcome.thenAccept(byMajority -> {
            if (!byMajority) {
                context.cleanUp(
                        "the vote that " + attempt.master().endpoint() + " may keep after a " + operation,
                        () -> attempt.master()
                                .node()
                                .execute(
                                        operation,
                                        RedlockScript.RELEASE.script(),
                                        contender.keys().all(),
                                        OwnerRecordCodec.KEPT_MARK + attemptId,
                                        "0"),
                        context.clock().now().plus(delay));
            }
        });
    }

    private void add(YesNoTally.Answer answer) {
        switch (kept.add(answer)) {
            case OPEN -> {}
            case ACCEPTED -> outcome.complete(true);
            case REJECTED -> outcome.complete(false);
            case UNDECIDED ->
                outcome.completeExceptionally(new BackendUnavailableException(operation + ": "
                        + RoundReport.noQuorumMessage(kept.yes() + kept.no(), quorum.masters(), failed)));
        }
    }
}

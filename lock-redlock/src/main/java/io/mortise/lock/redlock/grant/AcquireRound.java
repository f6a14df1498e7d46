// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.redis.client.RedisErrors;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.redis.script.ReplyHandler;
import io.mortise.lock.redlock.master.MasterHandshakeReply;
import io.mortise.lock.redlock.storage.RedlockScript;
import io.mortise.lock.redlock.vote.MasterVote;
import io.mortise.lock.redlock.vote.Quorum;
import io.mortise.lock.redlock.vote.VoteTally;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Requests the votes of all masters in one round of an acquire attempt, and completes when the outcome is decided.
 *
 * <p>Sends all requests in parallel. Replies arrive on I/O threads.
 *
 * <p>When the round is lost, each master that received a request also receives a request to delete its vote. Votes carry the
 * number of their round, so such a request does no harm if it is executed after a later round.
 */
final class AcquireRound {
    /**
     * Allows one retry after the reply {@code late}, which shows how far the master's clock was set forward since its last
     * response.
     */
    private static final int MAX_TRIES = 2;

    private final RedlockContender contender;
    private final int number;
    private final List<StoredAttemptAtMaster> attempts;
    private final VoteTally tally;
    private final CompletableFuture<AttemptResult> outcome = new CompletableFuture<>();
    private final MonotonicInstant start;
    private final Set<StoredAttemptAtMaster> requested = ConcurrentHashMap.newKeySet();
    private volatile boolean lost;
    private volatile boolean noQuorum;

    /**
     * Creates the round.
     *
     * @param number number of the round within its attempt
     */
    AcquireRound(RedlockContender contender, int number, List<StoredAttemptAtMaster> attempts, Quorum quorum) {
        this.contender = contender;
        this.number = number;
        this.attempts = attempts;
        this.tally = new VoteTally(quorum);
        this.start = contender.now();
    }

    /** Sends all requests. The core sees the outcome only after this method has returned, so the next round is sent later. */
    CompletionStage<AttemptResult> start() {
        List<StoredAttemptAtMaster> abstaining = new ArrayList<>();
        List<StoredAttemptAtMaster> notRequested = new ArrayList<>();
        for (StoredAttemptAtMaster attempt : attempts) {
            if (lost) {
                notRequested.add(attempt);
                continue;
            }
            MasterHandshakeReply voting = attempt.master().eligibleVoter();
            if (voting == null) {
                abstaining.add(attempt);
                continue;
            }
            requestVote(attempt, voting, MAX_TRIES);
            requested.add(attempt);
            if (lost) {
                yieldVote(attempt, false); // the thread that decided may have run before this request was recorded
            }
        }
        abstaining.forEach(attempt -> addVote(attempt, attempt.master().abstention()));
        notRequested.forEach(attempt -> addVote(attempt, new MasterVote.NotAsked()));
        return outcome;
    }

    private void requestVote(StoredAttemptAtMaster attempt, MasterHandshakeReply voting, int tries) {
        RedisNodeClient node = voting.node();
        MonotonicInstant sent = contender.now();
        ServerTime notAfter = node.notAfter(sent);
        String[] args = contender.acquireArgs(attempt, voting, notAfter, number);
        attempt.requestSent(voting.epoch(), contender.mayWait());
        node.run(RedlockScript.ACQUIRE.script(), contender.keys().all(), args, new ReplyHandler() {
            @Override
            public void onReply(List<Object> values) {
                handleReply(attempt, voting, sent, values, tries);
            }

            @Override
            public void onFailure(Throwable cause, boolean notExecuted) {
                if (notExecuted) {
                    attempt.requestAnswered();
                    attempt.noGrantFound();
                } else {
                    attempt.requestLost(voting.epoch(), notAfter);
                    contender.replyMissing(attempt.master(), voting, sent);
                }
                addVote(attempt, new MasterVote.Failed(RedisErrors.of(cause, contender.operation(), node.endpoints())));
            }
        });
    }

    private void handleReply(
            StoredAttemptAtMaster attempt,
            MasterHandshakeReply voting,
            MonotonicInstant sent,
            List<Object> values,
            int tries) {
        attempt.master().health().replyReceived();
        attempt.requestAnswered();
        if (!voting.isCurrent()) { // the reply may come from another connection, and so from another process
            addVote(attempt, attempt.master().abstention());
        } else if (values.get(0) instanceof Long counter) {
            addVote(attempt, new MasterVote.Granted(counter));
        } else {
            switch ((String) values.get(0)) {
                case "busy" -> {
                    recordServerTime(attempt, voting, sent, new ServerTime((Long) values.get(4)));
                    attempt.noGrantFound();
                    addVote(attempt, conflict(attempt, (String) values.get(2), (Long) values.get(1), (Long)
                            values.get(3)));
                }
                case "late" -> {
                    recordServerTime(attempt, voting, sent, new ServerTime((Long) values.get(1)));
                    attempt.noGrantFound();
                    if (tries > 1 && !lost && !outcome.isDone() && !contender.isEnded()) {
                        requestVote(attempt, voting, tries - 1);
                    } else {
                        addVote(
                                attempt,
                                new MasterVote.Failed(new BackendUnavailableException(
                                        "the request arrived too late, or the server's clock jumped")));
                    }
                }
                default -> {
                    attempt.noGrantFound();
                    contender.enterQuarantine(attempt.master(), voting);
                    addVote(attempt, attempt.master().abstention());
                }
            }
        }
    }

    /** Returns a failed vote, not a conflict, if the master still stores an orphaned grant of this client (S15). */
    private static MasterVote conflict(
            StoredAttemptAtMaster attempt, String holder, long remainingMillis, long queuedBefore) {
        return attempt.master().cleanupBacklog().contains(holder)
                ? new MasterVote.Failed(
                        new BackendUnavailableException(
                                "the cleanup of an earlier attempt of this client is pending there"),
                        false)
                : new MasterVote.Conflicted(holder, remainingMillis, queuedBefore);
    }

    static void recordServerTime(
            StoredAttemptAtMaster attempt, MasterHandshakeReply voting, MonotonicInstant sent, ServerTime time) {
        voting.node().serverClock().onReply(sent, time);
        attempt.timeReceived(voting.epoch(), time);
    }

    private void addVote(StoredAttemptAtMaster attempt, MasterVote vote) {
        switch (tally.add(attempt.master().index(), vote)) {
            case OPEN -> failIfComplete();
            case WON ->
                new TokenStoreRound(contender, number, attempts, tally, this::granted, this::failAfterMajority).start();
            case BUSY -> lose(() -> outcome.complete(contender.waiting(tally)));
            case NO_QUORUM ->
                lose(() -> {
                    noQuorum = true;
                    failIfComplete();
                });
        }
        if (lost && vote instanceof MasterVote.Granted) {
            yieldVote(attempt, false); // the first request to delete it may have been executed before
        }
    }

    /**
     * Fails a round without a quorum only once all masters have replied or failed, so that the error names every failed master.
     */
    private void failIfComplete() {
        if (noQuorum && tally.isComplete()) {
            outcome.completeExceptionally(report().noQuorum(contender.operation()));
        }
    }

    private void lose(Runnable thenComplete) {
        lost = true;
        try {
            requested.forEach(attempt -> yieldVote(attempt, false));
        } finally {
            thenComplete.run();
        }
    }

    /**
     * Deletes a vote that the master has given or may still give. The core ends an attempt that does not wait.
     *
     * @param wakes whether to wake the head of the master's queue
     */
    private void yieldVote(StoredAttemptAtMaster attempt, boolean wakes) {
        boolean hasNoVote = tally.votes().get(attempt.master().index()).isCertainlyNotGranted();
        if (hasNoVote || !attempt.mayHaveOrphans() || !contender.mayWait() || contender.isEnded()) {
            return;
        }
        String[] args = contender.yieldVoteArgs(attempt, number, wakes);
        attempt.master()
                .node()
                .run(RedlockScript.YIELD_VOTE.script(), contender.keys().all(), args, new ReplyHandler() {
                    @Override
                    public void onReply(List<Object> values) {}

                    @Override
                    public void onFailure(Throwable cause, boolean notExecuted) {
                        contender.retrySoon(); // the vote may still be there, and blocks other contenders
                    }
                });
    }

    private void granted(long token) {
        MonotonicInstant validUntil = LockClock.deadline(start, contender.leaseDuration());
        if (!contender.now().isBefore(validUntil)) {
            failAfterMajority("winning a majority took longer than the lease");
        } else {
            outcome.complete(contender.grant(token, validUntil, tally, number));
        }
    }

    /**
     * Fails a round that won a majority but cannot use it, because it took too long or the token could not be stored. Other
     * contenders saw this attempt as the holder, and wait until they are woken.
     */
    private void failAfterMajority(String reason) {
        lost = true;
        requested.forEach(attempt -> yieldVote(attempt, true));
        outcome.completeExceptionally(new BackendUnavailableException(contender.operation() + ": " + reason));
    }

    /** Returns the votes so far. */
    RoundReport report() {
        return RoundReport.of(attempts, tally);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.redis.client.RedisErrors;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.redis.script.LuaScript;
import io.mortise.lock.redis.script.ReplyHandler;
import io.mortise.lock.redlock.master.MasterHandshakeReply;
import io.mortise.lock.redlock.storage.RedlockScript;
import io.mortise.lock.redlock.vote.MasterVote;
import io.mortise.lock.redlock.vote.Quorum;
import io.mortise.lock.redlock.vote.VoteTally;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Asks all masters at once for their votes for one attempt, and completes as soon as enough have answered. Answers arrive on I/O
 * threads.
 *
 * <p>When the round is lost, each master that was asked gets a request to delete its vote, sent after the first request and before
 * the next: no vote remains that nobody counts.
 */
final class AcquireRound {
    /** The master's clock may have been set forward since the last response; its answer then says by how much. */
    private static final int MAX_TRIES = 2;

    /** Sent with its text, so that it precedes the next request whether or not the master knows the script. */
    private static final LuaScript YIELD_VOTE =
            RedlockScript.YIELD_VOTE.script().whole();

    private final RedlockContender contender;
    private final List<AttemptAtMaster> parts;
    private final VoteTally tally;
    private final CompletableFuture<AttemptResult> outcome = new CompletableFuture<>();
    private final MonotonicTime start;
    private final Set<AttemptAtMaster> asked = ConcurrentHashMap.newKeySet();
    private volatile boolean lost;
    private volatile boolean withoutQuorum;

    AcquireRound(RedlockContender contender, List<AttemptAtMaster> parts, Quorum quorum) {
        this.contender = contender;
        this.parts = parts;
        this.tally = new VoteTally(quorum);
        this.start = contender.now();
    }

    /** Sends all requests. The core sees the outcome only after this has returned, so the next round is sent after this one. */
    CompletionStage<AttemptResult> start() {
        List<AttemptAtMaster> abstaining = new ArrayList<>();
        List<AttemptAtMaster> notAsked = new ArrayList<>();
        for (AttemptAtMaster part : parts) {
            if (lost) {
                notAsked.add(part);
                continue;
            }
            MasterHandshakeReply voting = part.master().electable();
            if (voting == null) {
                abstaining.add(part);
                continue;
            }
            ask(part, voting, MAX_TRIES);
            asked.add(part);
            if (lost) {
                yieldVote(part); // the thread that decided may not have seen this request
            }
        }
        abstaining.forEach(part -> addVote(part, part.master().abstention(), false));
        notAsked.forEach(part -> addVote(part, new MasterVote.NotAsked(), false));
        return outcome;
    }

    private void ask(AttemptAtMaster part, MasterHandshakeReply voting, int tries) {
        RedisNodeClient node = voting.node();
        MonotonicTime sent = contender.now();
        ServerTime notAfter = node.notAfter(sent);
        String[] args = contender.acquireArgs(part, voting, notAfter);
        part.orphans().requestSent(contender.mayWait());
        node.run(RedlockScript.ACQUIRE.script(), contender.keys().all(), args, new ReplyHandler() {
            private volatile boolean resent = tries < MAX_TRIES;

            @Override
            public void sentAgain() {
                resent = true;
            }

            @Override
            public void answered(List<Object> values) {
                AcquireRound.this.answered(part, voting, sent, values, tries, resent);
            }

            @Override
            public void failed(Throwable cause, boolean notExecuted) {
                if (!notExecuted) {
                    part.removal().unanswered(voting.epoch(), notAfter);
                    contender.unanswered(part.master(), voting, sent);
                }
                part.orphans().requestCompleted();
                if (notExecuted) {
                    part.noGrantFound();
                }
                addVote(
                        part,
                        new MasterVote.Failed(RedisErrors.of(cause, contender.operation(), node.endpoints())),
                        resent);
            }
        });
    }

    private void answered(
            AttemptAtMaster part,
            MasterHandshakeReply voting,
            MonotonicTime sent,
            List<Object> values,
            int tries,
            boolean resent) {
        part.master().health().answered();
        part.orphans().requestCompleted();
        if (!voting.isCurrent()) { // the answer came on another connection, perhaps from another process
            addVote(part, part.master().abstention(), resent);
        } else if (values.get(0) instanceof Long counter) {
            addVote(part, new MasterVote.Granted(counter), resent);
        } else {
            switch ((String) values.get(0)) {
                case "busy" -> {
                    recordServerTime(part, voting, sent, new ServerTime((Long) values.get(4)));
                    part.noGrantFound();
                    addVote(
                            part,
                            conflict(part, (String) values.get(2), (Long) values.get(1), (Long) values.get(3)),
                            resent);
                }
                case "late" -> {
                    recordServerTime(part, voting, sent, new ServerTime((Long) values.get(1)));
                    part.noGrantFound();
                    if (tries > 1 && !lost && !outcome.isDone() && !contender.isEnded()) {
                        ask(part, voting, tries - 1);
                    } else {
                        addVote(
                                part,
                                new MasterVote.Failed(new BackendUnavailableException(
                                        "the request arrived too late, or the server's clock jumps")),
                                resent);
                    }
                }
                default -> {
                    part.noGrantFound();
                    contender.enterQuarantine(part.master(), voting);
                    addVote(part, part.master().abstention(), resent);
                }
            }
        }
    }

    /** A grant of an earlier attempt of this client has no holder: the vote failed, it is not a conflict (S15). */
    private static MasterVote conflict(AttemptAtMaster part, String holder, long remainingMillis, long queuedBefore) {
        return part.master().cleanupBacklog().contains(holder)
                ? new MasterVote.Failed(
                        new BackendUnavailableException(
                                "the cleanup of an earlier attempt of this client is pending there"),
                        false)
                : new MasterVote.Conflicted(holder, remainingMillis, queuedBefore);
    }

    static void recordServerTime(
            AttemptAtMaster part, MasterHandshakeReply voting, MonotonicTime sent, ServerTime time) {
        voting.node().time().heard(sent, time);
        part.removal().answered(voting.epoch(), time);
    }

    /** @param resent whether the request was sent a second time, after the one that deletes its vote */
    private void addVote(AttemptAtMaster part, MasterVote vote, boolean resent) {
        switch (tally.add(part.master().index(), vote)) {
            case OPEN -> failIfComplete();
            case WON -> new TokenRound(contender, parts, tally, this::granted, this::wonInVain).start();
            case BUSY -> lose(() -> outcome.complete(contender.waiting(tally)));
            case NO_QUORUM ->
                lose(() -> {
                    withoutQuorum = true;
                    failIfComplete();
                });
        }
        if (resent && contender.isEnded()) {
            contender.cleanUp(part);
        } else if (resent && lost && vote instanceof MasterVote.Granted) {
            contender.displace("a vote came after the request to delete it");
        }
    }

    /** Fails a round without a quorum only once all masters have answered or failed: the error names those that did not. */
    private void failIfComplete() {
        if (withoutQuorum && tally.isComplete()) {
            outcome.completeExceptionally(report().noQuorum(contender.operation()));
        }
    }

    private void lose(Runnable thenComplete) {
        lost = true;
        try {
            asked.forEach(this::yieldVote);
        } finally {
            thenComplete.run();
        }
    }

    /** Deletes a vote that the master gave or may give. The contender itself ends an attempt that does not wait. */
    private void yieldVote(AttemptAtMaster part) {
        boolean notOurs = tally.votes().get(part.master().index()).isNotOurs();
        if (notOurs || !part.mayHaveOrphans() || !contender.mayWait() || contender.isEnded()) {
            return;
        }
        part.master().node().run(YIELD_VOTE, contender.keys().all(), contender.yieldVoteArgs(part), new ReplyHandler() {
            @Override
            public void answered(List<Object> values) {}

            @Override
            public void failed(Throwable cause, boolean notExecuted) {
                contender.displace("a request to delete a vote may still be executed");
            }
        });
    }

    private void granted(long token) {
        MonotonicTime validUntil = LockClock.deadline(start, contender.leaseDuration());
        if (!contender.now().isBefore(validUntil)) {
            wonInVain("it took longer than the lease");
        } else {
            outcome.complete(contender.grant(token, validUntil, tally));
        }
    }

    /** Others have seen a majority for this attempt and wait for its end, so the next attempt needs another id. */
    private void wonInVain(String reason) {
        contender.displace(reason);
        outcome.completeExceptionally(new BackendUnavailableException(contender.operation() + ": " + reason));
    }

    /** Returns the votes so far. */
    RoundReport report() {
        return RoundReport.of(parts, tally);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.redis.node.LuaScript;
import io.mortise.lock.redis.node.RedisErrors;
import io.mortise.lock.redis.node.RedisNode;
import io.mortise.lock.redis.node.ReplyHandler;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.LockClock;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/**
 * One attempt to acquire: all masters are asked at once, and it is done as soon as enough have answered. When it is lost, each
 * master that was asked is told so behind the question, and before the next: no vote stays that nobody counts. Answers come on
 * I/O threads.
 */
final class Round {
    /** The server's clock may have been set forward since it was last heard: one answer tells by how much. */
    private static final int MOST_TRIES = 2;

    /** Before the next question, whether the server knows the script or not. */
    private static final LuaScript YIELD = RedlockScript.YIELD.script().whole();

    private final RedlockContender contender;
    private final List<Part> parts;
    private final Ballot ballot;
    private final CompletableFuture<AttemptResult> outcome = new CompletableFuture<>();
    private final long sent;
    private final Set<Part> asked = ConcurrentHashMap.newKeySet();
    private volatile boolean lost;
    private volatile boolean withoutQuorum;

    Round(RedlockContender contender, List<Part> parts, Quorum quorum) {
        this.contender = contender;
        this.parts = parts;
        this.ballot = new Ballot(quorum);
        this.sent = contender.nanoTime();
    }

    /** The core hears of the outcome once this has returned: until then nothing of a next round is sent. */
    CompletionStage<AttemptResult> start() {
        List<Part> absent = new ArrayList<>();
        List<Part> spared = new ArrayList<>();
        for (Part part : parts) {
            if (lost) {
                spared.add(part);
                continue;
            }
            Master.Greeted voting = part.master().electable();
            if (voting == null) {
                absent.add(part);
                continue;
            }
            ask(part, voting, MOST_TRIES);
            asked.add(part);
            if (lost) {
                giveBack(part); // who found it lost may not have seen that it was asked
            }
        }
        absent.forEach(part -> landed(part, part.master().abstains(), false));
        spared.forEach(part -> landed(part, new Vote.NotAsked(), false));
        return outcome;
    }

    private void ask(Part part, Master.Greeted voting, int tries) {
        RedisNode node = voting.node();
        long now = contender.nanoTime();
        long notAfter = node.notAfter(now);
        String[] args = contender.acquiring(part, voting, notAfter);
        part.footprint().asking(contender.mayWait());
        node.run(RedlockScript.ACQUIRE.script(), contender.keys().all(), args, new ReplyHandler() {
            private volatile boolean again = tries < MOST_TRIES;

            @Override
            public void sentAgain() {
                again = true;
            }

            @Override
            public void answered(List<Object> values) {
                Round.this.answered(part, voting, now, values, tries, again);
            }

            @Override
            public void failed(Throwable cause, boolean notExecuted) {
                if (!notExecuted) {
                    part.removal().unanswered(voting.epoch(), notAfter);
                    contender.unanswered(part.master(), voting, now);
                }
                part.footprint().answered();
                if (notExecuted) {
                    part.untouch();
                }
                landed(part, new Vote.Failed(RedisErrors.of(cause, contender.what(), node.endpoints())), again);
            }
        });
    }

    private void answered(
            Part part, Master.Greeted voting, long sentNanos, List<Object> values, int tries, boolean again) {
        part.master().pace().answered();
        part.footprint().answered();
        if (!voting.stands()) { // it answered on another connection, and may be another process
            landed(part, part.master().abstains(), again);
        } else if (values.get(0) instanceof Long counter) {
            landed(part, new Vote.Granted(counter), again);
        } else {
            switch ((String) values.get(0)) {
                case "busy" -> {
                    heard(part, voting, sentNanos, (Long) values.get(4));
                    part.untouch();
                    landed(
                            part,
                            conflict(part, (String) values.get(2), (Long) values.get(1), (Long) values.get(3)),
                            again);
                }
                case "late" -> {
                    heard(part, voting, sentNanos, (Long) values.get(1));
                    part.untouch();
                    if (tries > 1 && !lost && !outcome.isDone() && !contender.isEnded()) {
                        ask(part, voting, tries - 1);
                    } else {
                        landed(
                                part,
                                new Vote.Failed(new BackendUnavailableException(
                                        "it arrived too late, or the server's clock jumps")),
                                again);
                    }
                }
                default -> {
                    part.untouch();
                    contender.doubt(part.master(), voting);
                    landed(part, part.master().abstains(), again);
                }
            }
        }
    }

    /** Behind what an earlier attempt of ours left nobody has the lock: that is no answer, and not "busy" (S15). */
    private static Vote conflict(Part part, String holder, long leftMillis, long before) {
        return part.master().leftovers().includes(holder)
                ? new Vote.Failed(
                        new BackendUnavailableException(
                                "it has not yet taken away what an earlier attempt of this client left there"),
                        false)
                : new Vote.Conflicted(holder, leftMillis, before);
    }

    static void heard(Part part, Master.Greeted voting, long sentNanos, long serverMicros) {
        voting.node().time().heard(sentNanos, serverMicros);
        part.removal().answered(voting.epoch(), serverMicros);
    }

    /** @param again it was sent a second time, behind what was to take it away */
    private void landed(Part part, Vote vote, boolean again) {
        switch (ballot.cast(part.master().index(), vote)) {
            case OPEN -> reportLoss();
            case WON -> new SecondPhase(contender, parts, ballot, this::granted, this::wonInVain).begin();
            case BUSY -> lost(() -> outcome.complete(contender.waiting(ballot)));
            case NO_QUORUM ->
                lost(() -> {
                    withoutQuorum = true;
                    reportLoss();
                });
        }
        if (again && contender.isEnded()) {
            contender.settle(part);
        } else if (again && lost && vote instanceof Vote.Granted) {
            contender.displace("a vote came after it was given back");
        }
    }

    /** What is given back is so already. Only once all have answered or failed it is known who did not answer. */
    private void reportLoss() {
        if (withoutQuorum && ballot.isComplete()) {
            outcome.completeExceptionally(RoundReport.noQuorum(contender.what(), parts, ballot));
        }
    }

    private void lost(Runnable told) {
        lost = true;
        try {
            asked.forEach(this::giveBack);
        } finally {
            told.run();
        }
    }

    /** What was granted, or may be, stands in nobody's way. One that does not wait is withdrawn by its contender. */
    private void giveBack(Part part) {
        boolean notOurs = ballot.votes().get(part.master().index()).isNotOurs();
        if (notOurs || !part.isTouched() || !contender.mayWait() || contender.isEnded()) {
            return;
        }
        part.master().node().run(YIELD, contender.keys().all(), contender.yielding(part), new ReplyHandler() {
            @Override
            public void answered(List<Object> values) {}

            @Override
            public void failed(Throwable cause, boolean notExecuted) {
                contender.displace("a vote that was to be given back may be so at any time");
            }
        });
    }

    private void granted(long token) {
        long validUntil = LockClock.deadline(sent, contender.lease());
        if (contender.nanoTime() - validUntil >= 0) {
            wonInVain("it took longer than the lease");
        } else {
            outcome.complete(contender.grant(token, validUntil, ballot));
        }
    }

    /** Others have seen a majority of ours and wait for its end: they are woken. The next attempt has another id. */
    private void wonInVain(String why) {
        contender.displace(why);
        outcome.completeExceptionally(new BackendUnavailableException(contender.what() + ": " + why));
    }

    /** As far as they have answered. */
    RedlockSummary summary() {
        return RoundReport.summary(parts, ballot);
    }
}

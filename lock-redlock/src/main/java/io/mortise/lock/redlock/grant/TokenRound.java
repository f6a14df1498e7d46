// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.redis.script.ReplyHandler;
import io.mortise.lock.redlock.master.MasterHandshakeReply;
import io.mortise.lock.redlock.storage.RedlockScript;
import io.mortise.lock.redlock.vote.MasterVote;
import io.mortise.lock.redlock.vote.Quorum;
import io.mortise.lock.redlock.vote.VoteTally;
import io.mortise.lock.redlock.vote.YesNoTally;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * Second round of an acquire: stores the fencing token at a majority that still grants the lock. It is needed only if the votes
 * came with different counters; without it the next grant could get a lower token (S3).
 */
final class TokenRound {
    private final RedlockContender contender;
    private final List<AttemptAtMaster> parts;
    private final VoteTally tally;
    private final long token;
    private final LongConsumer whenGranted;
    private final Consumer<String> whenFailed;
    private final YesNoTally stored;

    /** @param tally of the round that was won; exactly one of the two callbacks is called */
    TokenRound(
            RedlockContender contender,
            List<AttemptAtMaster> parts,
            VoteTally tally,
            LongConsumer whenGranted,
            Consumer<String> whenFailed) {
        this.contender = contender;
        this.parts = parts;
        this.tally = tally;
        this.token = tally.token();
        this.whenGranted = whenGranted;
        this.whenFailed = whenFailed;
        this.stored = new YesNoTally(new Quorum(parts.size()));
    }

    void start() {
        if (tally.isTokenUnanimous()) {
            whenGranted.accept(token);
            return;
        }
        List<MasterVote> votes = tally.votes();
        List<AttemptAtMaster> voters = new ArrayList<>();
        for (AttemptAtMaster part : parts) {
            if (votes.get(part.master().index()) instanceof MasterVote.Granted) {
                voters.add(part);
            } else {
                addAnswer(YesNoTally.Answer.NONE);
            }
        }
        voters.forEach(this::raiseToken);
    }

    private void raiseToken(AttemptAtMaster part) {
        MasterHandshakeReply voting = part.master().voting();
        if (voting == null) {
            addAnswer(YesNoTally.Answer.NONE);
            return;
        }
        String[] args = contender.raiseTokenArgs(voting, token);
        voting.node().run(RedlockScript.RAISE_TOKEN.script(), contender.keys().all(), args, new ReplyHandler() {
            @Override
            public void answered(List<Object> values) {
                boolean counts = voting.isCurrent() && values.get(0) instanceof Long;
                addAnswer(
                        !counts
                                ? YesNoTally.Answer.NONE
                                : values.get(0).equals(1L) ? YesNoTally.Answer.YES : YesNoTally.Answer.NO);
            }

            @Override
            public void failed(Throwable cause, boolean notExecuted) {
                addAnswer(YesNoTally.Answer.NONE);
            }
        });
    }

    private void addAnswer(YesNoTally.Answer answer) {
        switch (stored.add(answer)) {
            case OPEN -> {}
            case ACCEPTED -> whenGranted.accept(token);
            case REJECTED, UNDECIDED -> whenFailed.accept("the majority was lost before all of it stored the token");
        }
    }
}

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
 * Second round of an acquire, which stores the fencing token at a majority of the masters.
 *
 * <p>Only masters at which the acquire round still has the vote store it. The round is needed only if the votes came with different counters;
 * without it, the next grant could get a lower token (S3).
 */
final class TokenStoreRound {
    private final RedlockContender contender;
    private final int number;
    private final List<StoredAttemptAtMaster> attempts;
    private final VoteTally tally;
    private final long token;
    private final LongConsumer whenGranted;
    private final Consumer<String> whenFailed;
    private final YesNoTally stored;

    /**
     * Creates the round; exactly one of the two callbacks is called later.
     *
     * @param number number of the won acquire round
     * @param tally votes of the won acquire round
     */
    TokenStoreRound(
            RedlockContender contender,
            int number,
            List<StoredAttemptAtMaster> attempts,
            VoteTally tally,
            LongConsumer whenGranted,
            Consumer<String> whenFailed) {
        this.contender = contender;
        this.number = number;
        this.attempts = attempts;
        this.tally = tally;
        this.token = tally.token();
        this.whenGranted = whenGranted;
        this.whenFailed = whenFailed;
        this.stored = new YesNoTally(new Quorum(attempts.size()));
    }

    void start() {
        if (tally.isTokenUnanimous()) {
            whenGranted.accept(token);
            return;
        }
        List<MasterVote> votes = tally.votes();
        List<StoredAttemptAtMaster> voters = new ArrayList<>();
        for (StoredAttemptAtMaster attempt : attempts) {
            if (votes.get(attempt.master().index()) instanceof MasterVote.Granted) {
                voters.add(attempt);
            } else {
                addAnswer(YesNoTally.Answer.NONE);
            }
        }
        voters.forEach(this::raiseToken);
    }

    private void raiseToken(StoredAttemptAtMaster attempt) {
        MasterHandshakeReply voting = attempt.master().voting();
        if (voting == null) {
            addAnswer(YesNoTally.Answer.NONE);
            return;
        }
        String[] args = contender.raiseTokenArgs(voting, number, token);
        voting.node().run(RedlockScript.RAISE_TOKEN.script(), contender.keys().all(), args, new ReplyHandler() {
            @Override
            public void onReply(List<Object> values) {
                boolean counts = voting.isCurrent() && values.get(0) instanceof Long;
                addAnswer(
                        !counts
                                ? YesNoTally.Answer.NONE
                                : values.get(0).equals(1L) ? YesNoTally.Answer.YES : YesNoTally.Answer.NO);
            }

            @Override
            public void onFailure(Throwable cause, boolean notExecuted) {
                addAnswer(YesNoTally.Answer.NONE);
            }
        });
    }

    private void addAnswer(YesNoTally.Answer answer) {
        switch (stored.add(answer)) {
            case OPEN -> {}
            case ACCEPTED -> whenGranted.accept(token);
            case REJECTED, UNDECIDED ->
                whenFailed.accept("the majority was lost before all its masters stored the token");
        }
    }
}

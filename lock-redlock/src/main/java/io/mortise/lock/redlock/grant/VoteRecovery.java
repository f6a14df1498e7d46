// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.redis.script.ReplyHandler;
import io.mortise.lock.redlock.master.MasterHandshakeReply;
import io.mortise.lock.redlock.master.RedlockMaster;
import io.mortise.lock.redlock.storage.RedlockScript;
import io.mortise.lock.redlock.vote.LostVoteRecoveryPolicy;
import io.mortise.lock.spi.MonotonicInstant;
import java.util.List;

/**
 * Asks masters again for the votes that a grant has lost, while a majority of masters still confirms the grant.
 *
 * <p>Sends no request after the release has begun. A request that is executed after that is cleaned up like any other late
 * request.
 */
final class VoteRecovery {
    private final RedlockContender contender;
    private final List<StoredAttemptAtMaster> attempts;
    private final LostVoteRecoveryPolicy policy;
    private final int round;
    private final long token;

    VoteRecovery(
            RedlockContender contender,
            List<StoredAttemptAtMaster> attempts,
            LostVoteRecoveryPolicy policy,
            int round,
            long token) {
        this.contender = contender;
        this.attempts = attempts;
        this.policy = policy;
        this.round = round;
        this.token = token;
    }

    /** Records that a renewal that was sent at the given time found the vote at that master. */
    void voteSeen(RedlockMaster master, MonotonicInstant sent) {
        policy.voteSeen(master.index(), sent);
    }

    /** Records that a renewal found the vote missing, and returns whether to recover it once that renewal has succeeded. */
    boolean voteMissing(RedlockMaster master) {
        return policy.voteMissing(master.index(), contender.now());
    }

    /**
     * Requests the vote of that master, which grants it if the key is free. The next renewal shows whether the master granted
     * it.
     */
    void recoverAt(RedlockMaster master) {
        MasterHandshakeReply voting = master.eligibleVoter();
        if (voting == null || contender.isEnded()) {
            return;
        }
        StoredAttemptAtMaster attempt = attempts.get(master.index());
        RedisNodeClient node = voting.node();
        MonotonicInstant sent = contender.now();
        ServerTime notAfter = node.notAfter(sent);
        attempt.requestSent(voting.epoch(), false);
        String[] args = contender.recoverVoteArgs(voting, notAfter, round, token);
        node.run(RedlockScript.RECOVER_VOTE.script(), contender.keys().all(), args, new ReplyHandler() {
            @Override
            public void onReply(List<Object> values) {
                master.health().replyReceived();
                attempt.requestAnswered();
                if (values.get(0).equals("late")) {
                    AcquireRound.recordServerTime(attempt, voting, sent, new ServerTime((Long) values.get(1)));
                } else if (values.get(0) instanceof String) {
                    contender.enterQuarantine(master, voting);
                } else if (values.get(0).equals(1L)) {
                    policy.voteSeen(master.index(), sent);
                }
            }

            @Override
            public void onFailure(Throwable cause, boolean notExecuted) {
                if (notExecuted) {
                    attempt.requestAnswered();
                } else {
                    attempt.requestLost(voting.epoch(), notAfter);
                    contender.replyMissing(master, voting, sent);
                }
            }
        });
    }
}

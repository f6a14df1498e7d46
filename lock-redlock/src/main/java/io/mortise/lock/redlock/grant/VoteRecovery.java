// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.redis.script.ReplyHandler;
import io.mortise.lock.redlock.master.MasterHandshakeReply;
import io.mortise.lock.redlock.master.RedlockMaster;
import io.mortise.lock.redlock.storage.RedlockScript;
import io.mortise.lock.redlock.vote.VoteRecoveryPolicy;
import io.mortise.lock.spi.MonotonicTime;
import java.util.List;

/**
 * Asks again for votes that a grant lost at single masters while a majority kept it.
 *
 * <p>It never asks after the release has begun; a request that is executed later is cleaned up like any other that comes late.
 */
final class VoteRecovery {
    private final RedlockContender contender;
    private final List<AttemptAtMaster> parts;
    private final VoteRecoveryPolicy policy;
    private final long token;

    VoteRecovery(RedlockContender contender, List<AttemptAtMaster> parts, VoteRecoveryPolicy policy, long token) {
        this.contender = contender;
        this.parts = parts;
        this.policy = policy;
        this.token = token;
    }

    /** Records that a renewal that was sent at the given time found the vote there. */
    void voteSeen(RedlockMaster master, MonotonicTime sent) {
        policy.voteSeen(master.index(), sent);
    }

    /** Records that a renewal found the vote missing, and returns whether to recover it once that renewal has succeeded. */
    boolean voteMissing(RedlockMaster master) {
        return policy.voteMissing(master.index(), contender.now());
    }

    /** Asks that master for its vote, which it gives if the key is free. The next renewal finds out whether it did. */
    void recoverAt(RedlockMaster master) {
        MasterHandshakeReply voting = master.electable();
        if (voting == null || contender.isEnded()) {
            return;
        }
        AttemptAtMaster part = parts.get(master.index());
        RedisNodeClient node = voting.node();
        MonotonicTime sent = contender.now();
        ServerTime notAfter = node.notAfter(sent);
        part.orphans().requestSent(false);
        String[] args = contender.recoverVoteArgs(voting, notAfter, token);
        node.run(RedlockScript.RECOVER_VOTE.script(), contender.keys().all(), args, new ReplyHandler() {
            @Override
            public void answered(List<Object> values) {
                master.health().answered();
                part.orphans().requestCompleted();
                if (values.get(0).equals("late")) {
                    AcquireRound.recordServerTime(part, voting, sent, new ServerTime((Long) values.get(1)));
                } else if (values.get(0) instanceof String) {
                    contender.enterQuarantine(master, voting);
                } else if (values.get(0).equals(1L)) {
                    policy.voteSeen(master.index(), sent);
                }
                cleanUpIfEnded(part);
            }

            @Override
            public void failed(Throwable cause, boolean notExecuted) {
                if (!notExecuted) {
                    part.removal().unanswered(voting.epoch(), notAfter);
                    contender.unanswered(master, voting, sent);
                }
                part.orphans().requestCompleted();
                cleanUpIfEnded(part);
            }
        });
    }

    /** A release that began meanwhile may have reached the master before this request. */
    private void cleanUpIfEnded(AttemptAtMaster part) {
        if (contender.isEnded()) {
            contender.cleanUp(part);
        }
    }
}

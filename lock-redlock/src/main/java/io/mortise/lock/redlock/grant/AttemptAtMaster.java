// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.redlock.grant.RedlockContenderEvent.Executed;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Execution;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.InDoubt;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.NotExecuted;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Refused;
import io.mortise.lock.spi.support.InDoubtRequests;

/**
 * The requests of one acquire attempt to one master, and what they may have left there. Those of several rounds may overlap,
 * since a reply to an earlier round may arrive after the next round has sent its request. An immutable value.
 *
 * @param awaited number of requests that may create a vote and whose reply is awaited
 * @param lost such requests that had no reply
 * @param voted whether the master may have voted for the attempt
 * @param queued whether an answered request may have created a queue entry
 * @param mayKeep whether a delayed release was sent, so that the master may keep a vote, which no reply to a vote request shows
 * @param cleaning whether a cleanup is running
 */
record AttemptAtMaster(
        int awaited, InDoubtRequests lost, boolean voted, boolean queued, boolean mayKeep, boolean cleaning) {
    static final AttemptAtMaster NOTHING = new AttemptAtMaster(0, InDoubtRequests.NONE, false, false, false, false);

    /** Adds a request that may create a vote. */
    AttemptAtMaster sent() {
        return with(awaited + 1, lost, voted, queued);
    }

    /**
     * Removes such a request, whose reply is not awaited any more.
     *
     * @param queues whether it may also have created a queue entry
     */
    AttemptAtMaster answered(Execution execution, boolean queues) {
        if (execution instanceof NotExecuted) {
            return with(awaited - 1, lost, voted, queued);
        }
        if (execution instanceof Refused refused) {
            return with(awaited - 1, lost.resolvedBy(refused.epoch(), refused.time()), voted, queued);
        }
        InDoubtRequests left = lost;
        boolean leftNoVote = false;
        if (execution instanceof InDoubt inDoubt) {
            left = left.lost(inDoubt.epoch(), inDoubt.notAfter());
        } else if (execution instanceof Executed executed) {
            left = left.resolvedBy(executed.epoch(), executed.time());
            leftNoVote = executed.leftNoVote() && awaited == 1 && !left.anyLost();
        }
        return with(awaited - 1, left, !leftNoVote, queued || queues);
    }

    /** Removes the lost requests that the reply to a release rules out. */
    AttemptAtMaster resolvedBy(long epoch, long time) {
        return with(awaited, lost.resolvedBy(epoch, time), voted, queued);
    }

    private AttemptAtMaster with(int newAwaited, InDoubtRequests newLost, boolean newVoted, boolean newQueued) {
        return new AttemptAtMaster(newAwaited, newLost, newVoted, newQueued, mayKeep, cleaning);
    }

    /** Records that a delayed release is sent. */
    AttemptAtMaster askedToKeep() {
        return new AttemptAtMaster(awaited, lost, voted, queued, true, cleaning);
    }

    AttemptAtMaster cleaning(boolean running) {
        return new AttemptAtMaster(awaited, lost, voted, queued, mayKeep, running);
    }

    /** Returns whether a request that may create a vote may still be executed. */
    boolean mayStillExecute() {
        return awaited > 0 || lost.anyLost();
    }

    /** Returns whether the attempt may have a vote or a queue entry. */
    boolean mayHaveOrphans() {
        return voted || queued || mayKeep || mayStillExecute();
    }
}

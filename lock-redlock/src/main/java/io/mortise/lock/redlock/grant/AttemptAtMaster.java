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
 * @param cleaning whether a cleanup is running
 */
record AttemptAtMaster(int awaited, InDoubtRequests lost, boolean voted, boolean queued, boolean cleaning) {
    static final AttemptAtMaster NOTHING = new AttemptAtMaster(0, InDoubtRequests.NONE, false, false, false);

    /** Adds a request that may create a vote. */
    AttemptAtMaster sent() {
        return new AttemptAtMaster(awaited + 1, lost, voted, queued, cleaning);
    }

    /**
     * Removes such a request, whose reply is not awaited any more.
     *
     * @param queues whether it may also have created a queue entry
     */
    AttemptAtMaster answered(Execution execution, boolean queues) {
        if (execution instanceof NotExecuted) {
            return new AttemptAtMaster(awaited - 1, lost, voted, queued, cleaning);
        }
        if (execution instanceof Refused refused) {
            return new AttemptAtMaster(
                    awaited - 1, lost.resolvedBy(refused.epoch(), refused.time()), voted, queued, cleaning);
        }
        InDoubtRequests left = lost;
        boolean leftNoVote = false;
        if (execution instanceof InDoubt inDoubt) {
            left = left.lost(inDoubt.epoch(), inDoubt.notAfter());
        } else if (execution instanceof Executed executed) {
            left = left.resolvedBy(executed.epoch(), executed.time());
            leftNoVote = executed.leftNoVote() && awaited == 1 && !left.anyLost();
        }
        return new AttemptAtMaster(awaited - 1, left, !leftNoVote, queued || queues, cleaning);
    }

    /** Removes the lost requests that the reply to a release rules out. */
    AttemptAtMaster resolvedBy(long epoch, long time) {
        return new AttemptAtMaster(awaited, lost.resolvedBy(epoch, time), voted, queued, cleaning);
    }

    AttemptAtMaster cleaning(boolean running) {
        return new AttemptAtMaster(awaited, lost, voted, queued, running);
    }

    /** Returns whether a request that may create a vote may still be executed. */
    boolean mayStillExecute() {
        return awaited > 0 || lost.anyLost();
    }

    /** Returns whether the attempt may have a vote or a queue entry. */
    boolean mayHaveOrphans() {
        return voted || queued || mayStillExecute();
    }
}

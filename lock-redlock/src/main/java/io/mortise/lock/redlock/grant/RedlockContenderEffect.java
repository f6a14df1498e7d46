// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.LockException;
import io.mortise.lock.redlock.vote.VoteTally;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.List;

/** Something to do for one contender after an event: send a request, answer the core, or start a timer. */
sealed interface RedlockContenderEffect {
    /** The effects without data. */
    enum Plain implements RedlockContenderEffect {
        /** Tell the core to make another attempt. */
        WAKE,

        /** Tell the core to make another attempt after a short delay, because a vote of a lost round may remain. */
        WAKE_SOON,

        /** Wait for hints of other masters. Leads to {@link RedlockContenderEvent.HintsDue}. */
        AWAIT_HINTS
    }

    /** An effect that concerns one master. */
    sealed interface AtMaster extends RedlockContenderEffect {
        /** Returns the index of the master. */
        int master();
    }

    /**
     * Request the vote of a master. Leads to {@link RedlockContenderEvent.Voted} or
     * {@link RedlockContenderEvent.CameTooLate}.
     *
     * @param mayBeQueued whether the attempt may be queued at the master
     * @param tries the tries that are left with this one
     */
    record SendAcquire(int master, int round, boolean mayBeQueued, int tries) implements AtMaster {}

    /** Have a master store the token. Leads to {@link RedlockContenderEvent.TokenStored}. */
    record SendToken(int master, int round, long token) implements AtMaster {}

    /**
     * Delete the vote of a lost round at a master. May lead to {@link RedlockContenderEvent.YieldFailed}.
     *
     * @param wakes whether to wake the head of the master's queue
     */
    record SendYield(int master, int round, boolean wakes) implements AtMaster {}

    /** Request the vote of a master again. Leads to {@link RedlockContenderEvent.Recovered}. */
    record SendRecovery(int master, int round, long token) implements AtMaster {}

    /**
     * Send a release. Leads to {@link RedlockContenderEvent.Removed} or {@link RedlockContenderEvent.RemovalFailed}.
     *
     * @param withTime whether the reply must contain the time
     */
    record SendRemoval(int master, boolean forCleanup, boolean repeated, boolean withTime) implements AtMaster {}

    /** Send a release again after a short delay. Leads to {@link RedlockContenderEvent.RemovalDue}. */
    record RepeatRemoval(int master) implements AtMaster {}

    /** Send a delayed release. Leads to {@link RedlockContenderEvent.Kept} or {@link RedlockContenderEvent.KeepFailed}. */
    record SendDelayedRelease(int master, Duration delay) implements AtMaster {}

    /**
     * Delete a vote that a delayed release has kept or may have kept, until the master has replied or the delay has passed. The
     * cleanup of the attempt does not find it.
     */
    record DeleteKeptVote(int master, Duration delay) implements AtMaster {}

    /**
     * Remove in the background what the attempt may have left at a master. Leads to
     * {@link RedlockContenderEvent.CleanupDue}, and to {@link RedlockContenderEvent.CleanupEnded}.
     */
    record StartCleanup(int master, boolean mayBeQueued) implements AtMaster {}

    /** Complete the cleanup: the master has nothing of the attempt, and will have nothing. */
    record CompleteCleanup(int master) implements AtMaster {}

    /** Fail a try of the cleanup, because a request may still be executed. */
    record RepeatCleanup(int master) implements AtMaster {}

    /** Fail a try of the cleanup, whose request has failed. */
    record FailCleanup(int master, LockException cause) implements AtMaster {}

    /** Pause before a round, in which one of several contenders that share the votes may win. */
    record Pause(VoteTally votes, int splitRounds) implements RedlockContenderEffect {}

    /** Complete the attempt with a grant. */
    record ReportGranted(long token, int round, MonotonicInstant validUntil) implements RedlockContenderEffect {}

    /** Complete the attempt without a grant. */
    record ReportBusy(VoteTally votes, int splitRounds) implements RedlockContenderEffect {}

    /** Fail the attempt, because too few masters have voted. */
    record FailWithoutQuorum(VoteTally votes) implements RedlockContenderEffect {}

    /** Fail the attempt, although it had a majority. */
    record FailAttempt(String why) implements RedlockContenderEffect {}

    /** Complete the release with whether a majority had the grant, or keeps it. */
    record ReportEnded(boolean existed) implements RedlockContenderEffect {}

    /**
     * Fail the release: no majority has replied.
     *
     * @param replies number of masters that have replied
     */
    record FailEnd(boolean delayed, int replies, List<Failure> failures) implements RedlockContenderEffect {}

    /** The reason why a master has not replied. */
    record Failure(int master, String why) {}
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.LockException;
import io.mortise.lock.redlock.vote.MasterVote;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;

/** Something that happens to one contender: a call of the core, the outcome of a request, a message, or a timer. */
sealed interface RedlockContenderEvent {
    /**
     * The core requests the grant.
     *
     * @param validUntil deadline of a grant that counts from now
     * @param repeatUntil time until which a round with split votes is repeated, if the attempt does not wait
     */
    record Attempt(MonotonicInstant validUntil, MonotonicInstant repeatUntil) implements RedlockContenderEvent {}

    /**
     * The pause after a round with split votes is over.
     *
     * @param validUntil deadline of a grant that counts from now
     * @param wanted whether the caller still waits for the attempt
     */
    record PauseOver(MonotonicInstant validUntil, boolean wanted) implements RedlockContenderEvent {}

    /** The core ends the contender: a release, or a withdrawal. Releases that fail are sent again until that time. */
    record End(MonotonicInstant retryUntil) implements RedlockContenderEvent {}

    /** The core releases the grant with a delay. */
    record EndAfter(Duration delay) implements RedlockContenderEvent {}

    /** An event that concerns one master. */
    sealed interface AtMaster extends RedlockContenderEvent {
        /** Returns the index of the master. */
        int master();
    }

    /** The knowledge about the execution of a request that may create a vote. */
    sealed interface Execution {}

    /** The request was certainly not executed and will not be; the master may have sent no reply. */
    record NotExecuted() implements Execution {}

    /**
     * The master has refused the request, on the connection of this epoch.
     *
     * @param time the master's time in µs
     */
    record Refused(long epoch, long time) implements Execution {}

    /**
     * The master has executed the request and replied, on the connection of this epoch; negative if that is not certain.
     *
     * @param time the master's time in µs; the lowest number if the reply does not contain it
     * @param leftNoVote whether the reply shows that the master has no vote for the attempt
     */
    record Executed(long epoch, long time, boolean leftNoVote) implements Execution {}

    /**
     * There was no reply.
     *
     * @param epoch the epoch of the connection on which the request was sent
     * @param notAfter the master's time in µs after which the master refuses the request
     */
    record InDoubt(long epoch, long notAfter) implements Execution {}

    /** The outcome of an acquire that was sent in this round. */
    record Voted(int master, int round, MasterVote vote, Execution execution, MonotonicInstant now)
            implements AtMaster {}

    /**
     * The master refused an acquire, because it came too late. The master's clock is known better now.
     *
     * @param tries the tries that are left with this one
     */
    record CameTooLate(int master, int round, int tries, Refused execution, MasterVote vote, MonotonicInstant now)
            implements AtMaster {}

    /** The answer of a master that was to store the token of this round. */
    record TokenStored(int master, int round, Answer answer, MonotonicInstant now) implements AtMaster {}

    /** A request to delete the vote of a lost round had no reply, so that the vote may remain. */
    record YieldFailed(int master) implements AtMaster {}

    /** A renewal has found the vote of this master missing, and a majority has confirmed the grant. */
    record VoteMissing(int master) implements AtMaster {}

    /** The outcome of the request to vote again. */
    record Recovered(int master, Execution execution) implements AtMaster {}

    /**
     * The reply to a release.
     *
     * @param forCleanup whether it was sent by the cleanup
     * @param repeated whether an earlier try of the release had no reply
     * @param held whether the attempt had the vote
     */
    record Removed(int master, boolean forCleanup, boolean repeated, boolean held, long epoch, long time)
            implements AtMaster {}

    /** A release had no reply, or the reply was an error. */
    record RemovalFailed(int master, boolean forCleanup, LockException cause, MonotonicInstant now)
            implements AtMaster {}

    /** It is time to send a release again that failed. */
    record RemovalDue(int master) implements AtMaster {}

    /**
     * The reply to a delayed release.
     *
     * @param kept whether the attempt had the vote, so that the master keeps it for the delay
     */
    record Kept(int master, boolean kept, long epoch, long time) implements AtMaster {}

    /** A delayed release had no reply, or none that counts. */
    record KeepFailed(int master, String why) implements AtMaster {}

    /** It is time for a try of the cleanup. */
    record CleanupDue(int master) implements AtMaster {}

    /** A try of the cleanup was complete, or what the attempt may have left at the master has expired. */
    record CleanupEnded(int master) implements AtMaster {}

    /** A message that the lock may be free at the master. */
    record Hint(int master) implements AtMaster {}

    /** Enough time has passed since the first hint for those of other masters to arrive. */
    record HintsDue() implements RedlockContenderEvent {}

    /** The answer of one master to a request that needs a majority. */
    enum Answer {
        PENDING,
        YES,
        NO,
        /** The master did not reply, or its reply does not count. */
        NONE
    }
}

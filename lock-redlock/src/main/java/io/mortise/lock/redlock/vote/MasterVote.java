// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.vote;

/** The vote of one master on one acquire attempt, or the reason why the master gave none. */
public sealed interface MasterVote {
    /** The master has not replied yet. */
    record Pending() implements MasterVote {}

    /**
     * The master granted the lock to this attempt.
     *
     * @param counter token counter of the master, incremented by this grant
     */
    record Granted(long counter) implements MasterVote {}

    /**
     * The master has granted the lock to another contender.
     *
     * @param holder beginning of the stored value: the attempt id if the holder is a Mortise client
     * @param remainingMillis time until the grant expires; negative if it never expires
     * @param queuedBefore number of contenders that are queued at the master before this attempt
     */
    record Conflicted(String holder, long remainingMillis, long queuedBefore) implements MasterVote {}

    /**
     * The master sent no reply, or none that counts.
     *
     * @param mayHaveGranted whether the master may nevertheless have granted the lock to this attempt
     */
    record Failed(Throwable cause, boolean mayHaveGranted) implements MasterVote {}

    /** Returns whether the master has granted the lock to this attempt, or may have done so although it did not reply. */
    default boolean mayBeGranted() {
        return this instanceof Granted || (this instanceof Failed failed && failed.mayHaveGranted);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.vote;

/** The answer of one master to an acquire request, or the reason why there is none. */
public sealed interface MasterVote {
    /** The master has not answered yet. */
    record Pending() implements MasterVote {}

    /**
     * The master granted the lock to this attempt.
     *
     * @param counter the master's counter of grants, raised by this one
     */
    record Granted(long counter) implements MasterVote {}

    /**
     * The master has granted the lock to another contender.
     *
     * @param holder beginning of the holder's value: its attempt id if it is a client of Mortise
     * @param remainingMillis time until the grant expires; negative if it does not
     * @param queuedBefore number of contenders that are queued there before this attempt
     */
    record Conflicted(String holder, long remainingMillis, long queuedBefore) implements MasterVote {}

    /**
     * The master gave no answer, or none that counts.
     *
     * @param mayBeOurs whether it may have granted the lock to this attempt all the same
     */
    record Failed(Throwable cause, boolean mayBeOurs) implements MasterVote {
        public Failed(Throwable cause) {
            this(cause, true);
        }
    }

    /** The master was not asked, because the others had already decided. */
    record NotAsked() implements MasterVote {}

    /** Returns whether the master certainly did not grant the lock to this attempt. */
    default boolean isNotOurs() {
        return this instanceof Conflicted
                || this instanceof NotAsked
                || (this instanceof Failed failed && !failed.mayBeOurs);
    }
}

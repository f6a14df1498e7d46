// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

/** What one master said to an attempt. */
sealed interface Vote {
    /** Nothing yet. */
    record None() implements Vote {}

    /**
     * It is ours there.
     *
     * @param counter the master's counter of grants, raised by this one
     */
    record Granted(long counter) implements Vote {}

    /**
     * Somebody else's key is there.
     *
     * @param holder how that one's value begins
     * @param leftMillis until it expires; negative if it does not
     * @param before how many stand in line there before this attempt
     */
    record Conflicted(String holder, long leftMillis, long before) implements Vote {}

    /**
     * No answer, or none that counts.
     *
     * @param mayBeOurs whether it may have voted for us all the same
     */
    record Failed(Throwable cause, boolean mayBeOurs) implements Vote {
        Failed(Throwable cause) {
            this(cause, true);
        }
    }

    /** It was not asked: the others had decided by then. */
    record NotAsked() implements Vote {}

    /** Whether that master certainly did not vote for us. */
    default boolean isNotOurs() {
        return this instanceof Conflicted
                || this instanceof NotAsked
                || (this instanceof Failed failed && !failed.mayBeOurs);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.vote;

import com.google.errorprone.annotations.concurrent.GuardedBy;

/**
 * Counts the yes and no answers of all masters to one question until the result is final. Exactly one call of {@link #add}
 * returns the result. Thread-safe.
 */
public final class YesNoTally {
    /** The answer of one master. */
    public enum Answer {
        YES,
        NO,
        /** The master did not reply, or its reply does not count. */
        NONE
    }

    /** The result of a tally. */
    public enum Result {
        OPEN,
        /** A majority answered yes. */
        ACCEPTED,
        /** So many masters answered no that a majority for yes is impossible. */
        REJECTED,
        /** Every master has replied or failed, without a majority for yes or against it. */
        UNDECIDED
    }

    private final Quorum quorum;

    @GuardedBy("this")
    private int yes;

    @GuardedBy("this")
    private int no;

    @GuardedBy("this")
    private int none;

    @GuardedBy("this")
    private boolean decided;

    public YesNoTally(Quorum quorum) {
        this.quorum = quorum;
    }

    /**
     * Adds an answer. Returns the result if this answer decides, else {@link Result#OPEN}, even if an earlier answer has
     * decided.
     */
    public synchronized Result add(Answer answer) {
        switch (answer) {
            case YES -> yes++;
            case NO -> no++;
            case NONE -> none++;
        }
        if (decided) {
            return Result.OPEN;
        }
        Result result = decide(quorum, yes, no, none);
        decided = result != Result.OPEN;
        return result;
    }

    /** Returns the result of these numbers of answers. */
    public static Result decide(Quorum quorum, int yes, int no, int none) {
        if (yes >= quorum.majority()) {
            return Result.ACCEPTED;
        }
        if (no > quorum.maxFailures()) {
            return Result.REJECTED;
        }
        return yes + no + none >= quorum.masters() ? Result.UNDECIDED : Result.OPEN;
    }

    /** Returns the number of masters that have answered yes so far. */
    public synchronized int yes() {
        return yes;
    }

    /** Returns the number of masters that have answered no so far. */
    public synchronized int no() {
        return no;
    }
}

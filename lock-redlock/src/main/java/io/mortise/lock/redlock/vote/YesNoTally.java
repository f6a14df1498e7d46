// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.vote;

import com.google.errorprone.annotations.concurrent.GuardedBy;

/**
 * Counts yes and no answers of all masters to one question until a majority decides. Exactly one call of {@link #add} returns the
 * result. Thread-safe.
 */
public final class YesNoTally {
    /** The answer of one master. */
    public enum Answer {
        YES,
        NO,
        /** The master did not answer, or its answer does not count. */
        NONE
    }

    /** The result of all answers. */
    public enum Result {
        OPEN,
        /** A majority said yes. */
        ACCEPTED,
        /** So many said no that a majority for yes is impossible. */
        REJECTED,
        /** Every master has answered or failed, without a majority. */
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

    /** Adds an answer and returns the result if this answer decides, else {@link Result#OPEN}, also if it was decided before. */
    public synchronized Result add(Answer answer) {
        switch (answer) {
            case YES -> yes++;
            case NO -> no++;
            case NONE -> none++;
        }
        if (decided) {
            return Result.OPEN;
        }
        Result result = decide();
        decided = result != Result.OPEN;
        return result;
    }

    @GuardedBy("this")
    private Result decide() {
        if (yes >= quorum.majority()) {
            return Result.ACCEPTED;
        }
        if (no > quorum.maxFailures()) {
            return Result.REJECTED;
        }
        return yes + no + none >= quorum.masters() ? Result.UNDECIDED : Result.OPEN;
    }

    /** Returns how many masters said yes so far. */
    public synchronized int yes() {
        return yes;
    }

    /** Returns how many masters said no so far. */
    public synchronized int no() {
        return no;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import com.google.errorprone.annotations.concurrent.GuardedBy;

/** A question to all masters that each answers with yes or no. Exactly one answer is told the verdict. Thread-safe. */
final class Poll {
    enum Answer {
        YES,
        NO,
        /** It did not answer, or its answer does not count. */
        NONE
    }

    enum Verdict {
        OPEN,
        /** A majority said yes. */
        CARRIED,
        /** So many said no that there cannot be a majority for it any more, nor later. */
        REFUSED,
        /** All have answered or failed, and it is neither. */
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

    Poll(Quorum quorum) {
        this.quorum = quorum;
    }

    /** The verdict if this answer decides, else {@link Verdict#OPEN}: it is still open, or was decided before. */
    synchronized Verdict answer(Answer answer) {
        switch (answer) {
            case YES -> yes++;
            case NO -> no++;
            case NONE -> none++;
        }
        if (decided) {
            return Verdict.OPEN;
        }
        Verdict verdict = decide();
        decided = verdict != Verdict.OPEN;
        return verdict;
    }

    @GuardedBy("this")
    private Verdict decide() {
        if (yes >= quorum.majority()) {
            return Verdict.CARRIED;
        }
        if (no > quorum.spare()) {
            return Verdict.REFUSED;
        }
        return yes + no + none >= quorum.nodes() ? Verdict.UNDECIDED : Verdict.OPEN;
    }

    /** How many said yes so far. */
    synchronized int yes() {
        return yes;
    }

    /** How many said no so far. */
    synchronized int no() {
        return no;
    }
}

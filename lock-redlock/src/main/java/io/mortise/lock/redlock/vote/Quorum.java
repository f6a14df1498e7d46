// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.vote;

/**
 * Computes how many masters form a majority. Mutual exclusion relies only on the fact that any two majorities
 * share at least one master.
 *
 * @param masters number of all masters
 */
public record Quorum(int masters) {
    static final int MIN_MASTERS = 3;

    public Quorum {
        check(masters);
    }

    /** Rejects numbers of masters that are too small for a majority to tolerate failures. */
    public static void check(int masters) {
        if (masters < MIN_MASTERS) {
            throw new IllegalArgumentException("Redlock needs at least " + MIN_MASTERS + " masters, not " + masters
                    + ": name all of them, best an odd number, or use redis:// for a single server");
        }
    }

    /** Returns the number of masters that must agree. */
    public int majority() {
        return masters / 2 + 1;
    }

    /** Returns the number of masters that may fail while a majority remains. */
    public int maxFailures() {
        return masters - majority();
    }

    /** Returns the number of other masters that must include at least one member of every earlier majority. */
    public int recoveryQuorum() {
        return maxFailures() + 1;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.vote;

/**
 * Computes how many masters form a majority. Any two majorities share at least one master: mutual exclusion rests on that alone.
 *
 * @param masters number of all masters
 */
public record Quorum(int masters) {
    static final int MIN_MASTERS = 3;

    public Quorum {
        check(masters);
    }

    /** Rejects fewer masters than a majority makes sense with. */
    public static void check(int masters) {
        if (masters < MIN_MASTERS) {
            throw new IllegalArgumentException(masters + " masters, must be at least " + MIN_MASTERS);
        }
    }

    /** Returns how many masters must agree. */
    public int majority() {
        return masters / 2 + 1;
    }

    /** Returns how many masters may fail while a majority is left. */
    public int maxFailures() {
        return masters - majority();
    }

    /** Returns how many of the other masters are certain to include one that took part in any decision of a majority. */
    public int recoveryQuorum() {
        return maxFailures() + 1;
    }
}

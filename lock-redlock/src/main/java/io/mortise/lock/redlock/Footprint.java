// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

/**
 * Whether something of a contender may be at a master: kept apart from what is sent there, since a round that was given up may still
 * hear its answer when the next round has asked already. Thread-safe.
 */
final class Footprint {
    private int asking;
    private boolean inLine;
    private boolean there;

    /** Something is sent that may make something; one that waits may stand in line there from now on. */
    synchronized void asking(boolean waits) {
        asking++;
        inLine |= waits;
        there = true;
    }

    /** One question is answered, or has failed. */
    synchronized void answered() {
        asking--;
    }

    /** The last answer says that nothing is there: true only if no other question is under way. */
    synchronized void isGone() {
        if (asking == 0 && !inLine) {
            there = false;
        }
    }

    synchronized boolean mayBeThere() {
        return there;
    }

    /** Whether it may stand in line there. */
    synchronized boolean mayBeInLine() {
        return inLine;
    }
}

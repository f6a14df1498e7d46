// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

/**
 * How many of the masters decide. Any two majorities have one master in common: that is all that exclusion rests on.
 *
 * @param nodes how many masters there are
 */
record Quorum(int nodes) {
    static final int LEAST = 3;

    Quorum {
        check(nodes);
    }

    static void check(int nodes) {
        if (nodes < LEAST) {
            throw new IllegalArgumentException(nodes + " masters, must be at least " + LEAST);
        }
    }

    /** So many must agree. */
    int majority() {
        return nodes / 2 + 1;
    }

    /** So many may be missing. */
    int spare() {
        return nodes - majority();
    }

    /** In so many of the others one at least has seen whatever a majority with this one decided. */
    int knowsAll() {
        return spare() + 1;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.inventory;

/** Thrown when a higher fencing token has written before: the lock was lost meanwhile, and nothing was written. */
public final class StaleTokenException extends Exception {
    private static final long serialVersionUID = 1L;

    private final long highest;

    StaleTokenException(long token, long highest) {
        super("token " + token + " is below " + highest);
        this.highest = highest;
    }

    /** The token that has written before. */
    public long highest() {
        return highest;
    }
}

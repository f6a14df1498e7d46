// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.inventory;

/** Thrown when a write is rejected because a higher fencing token came before. The writer has lost the lock. */
public final class StaleTokenException extends Exception {
    private static final long serialVersionUID = 1L;

    private final long highest;

    StaleTokenException(long token, long highest) {
        super("fencing token " + token + " is below " + highest + ", the highest token so far");
        this.highest = highest;
    }

    /** Returns the highest token so far. */
    public long highest() {
        return highest;
    }
}

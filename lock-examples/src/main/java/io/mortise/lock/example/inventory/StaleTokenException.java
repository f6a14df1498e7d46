// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.inventory;

/** Thrown when a higher fencing token has written before: the lock was lost meanwhile, and nothing was written. */
final class StaleTokenException extends Exception {
    private static final long serialVersionUID = 1L;

    StaleTokenException(long token, long highest) {
        super("token " + token + " is below " + highest);
    }
}

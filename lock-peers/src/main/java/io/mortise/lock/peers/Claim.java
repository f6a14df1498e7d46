// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

/**
 * A guarantee beyond mutual exclusion that a lock library may document; a failed test counts against the library only if the
 * library gives the guarantee.
 */
enum Claim {
    WAITING("waiting for a held lock"),
    RENEWAL("renewal of a held lock"),
    HELD_CHECK("a check whether the lock is still held"),
    LOSS_NOTIFICATION("notification of a loss"),
    RELEASE_RESULT("a release that reports a loss");

    private final String description;

    Claim(String description) {
        this.description = description;
    }

    /** Returns the promise as a noun phrase for the report. */
    String description() {
        return description;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

/** Outcome of a release: released, lost before, or unknown. */
public enum ReleaseOutcome {
    /** The grant was valid until the release, and is deleted. */
    RELEASED,
    /** The store had ended the grant before the release: somebody else may have held the lock meanwhile. */
    LOST,
    /** The store did not answer; the release is repeated in the background, at most until the grant expires. */
    UNKNOWN
}

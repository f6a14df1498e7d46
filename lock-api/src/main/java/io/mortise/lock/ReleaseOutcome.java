// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

/** The result of releasing a lease. */
public enum ReleaseOutcome {
    /** The grant was valid until the release, and is now deleted, or kept for the delay of {@link Lease#releaseAfter}. */
    RELEASED,
    /** The grant had already ended before the release, so another owner may have held the lock in the meantime. */
    LOST,
    /**
     * It is not known whether the grant was valid until the release, because no clear response arrived in time. The client
     * repeats the release in the background, at most until the grant expires.
     */
    UNKNOWN
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

/**
 * A guarantee that a backend may offer in addition to mutual exclusion. The conformance kit tests that a backend keeps each
 * guarantee that it declares, and rejects calls that need any other.
 */
public enum Capability {
    /** Each grant has a fencing token, and the tokens of one lock name strictly increase (S3). */
    FENCING,
    /**
     * The store grants a lock to its contenders in a fair order; threads of one process are served first in, first out (S12).
     */
    FAIR,
    /** A release wakes the next waiter by a message, so waiters do not poll (S11). */
    PUSH,
    /** The store frees the lock of a crashed process within the lease duration, plus the margin that S11 states. */
    CRASH_RELEASE,
    /** Each lock can have its own {@link LockOptions#leaseDuration()}; otherwise the client's session determines it. */
    PER_LOCK_LEASE,
    /** {@link LockHolder} has the owner id, host, process id and metadata of the holder (S18). */
    HOLDER_INFO,
    /** {@link LockAdmin#list} finds all locks that are held. */
    LIST,
    /** {@link Lease#releaseAfter} works: the store keeps a lock taken for a while after its lease has ended (S5). */
    DELAYED_RELEASE
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

/** Promise that a backend may make beyond plain exclusion. The conformance kit checks that claimed ones work and others refuse. */
public enum Capability {
    /** Each grant carries a token that rises strictly per name (S3). */
    FENCING,
    /** Contenders are granted in the store's order, threads of one process first in, first out (S12). */
    FAIR,
    /** A release wakes the next waiter by push; nobody polls to be woken (S11). */
    PUSH,
    /** The lock of a crashed process is granted to another within its lease duration (S11). */
    CRASH_RELEASE,
    /** {@link LockOptions#leaseDuration()} is honoured per lock; without it the client's session duration rules. */
    PER_LOCK_LEASE,
    /** {@link LockHolder} carries owner, host, pid and metadata of the holder. */
    HOLDER_INFO,
    /** {@link LockAdmin#list} finds all held locks. */
    LIST
}

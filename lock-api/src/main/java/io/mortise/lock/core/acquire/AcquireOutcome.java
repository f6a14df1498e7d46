// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.acquire;

import io.mortise.lock.LockException;
import io.mortise.lock.core.lease.HeldLease;

/** The result of one {@link AcquireOperation}: a lease, a timeout, a failure, or a withdrawal by the caller. */
public sealed interface AcquireOutcome {
    /** The lock was granted. */
    record Leased(HeldLease lease) implements AcquireOutcome {}

    /** Another owner held the lock until the time limit. */
    record Busy() implements AcquireOutcome {}

    /** The operation failed, for example because the store does not respond. */
    record Failed(LockException cause) implements AcquireOutcome {}

    /** The caller withdrew the request; this outcome is not delivered. */
    record Withdrawn() implements AcquireOutcome {}
}

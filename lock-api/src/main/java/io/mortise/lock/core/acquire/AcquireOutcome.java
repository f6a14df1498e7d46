// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.acquire;

import io.mortise.lock.LockException;
import io.mortise.lock.core.lease.HeldLease;

/** Outcome of one {@link AcquireOperation}. */
public sealed interface AcquireOutcome {
    /** The lock was granted. */
    record Leased(HeldLease lease) implements AcquireOutcome {}

    /** Somebody else held it all the time. */
    record Busy() implements AcquireOutcome {}

    /** It could not be had. */
    record Failed(LockException cause) implements AcquireOutcome {}

    /** The caller no longer wants it; nobody reads this outcome. */
    record Withdrawn() implements AcquireOutcome {}
}

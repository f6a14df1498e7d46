// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core;

import io.mortise.lock.LockException;

/** Outcome of one {@link AcquireOperation}. */
sealed interface AcquireOutcome {
    /** The lock was granted. */
    record Leased(HeldLease lease) implements AcquireOutcome {}

    /** Somebody else held it all the time. */
    record Busy() implements AcquireOutcome {}

    /** It could not be had. */
    record Failed(LockException cause) implements AcquireOutcome {}

    /** The caller no longer wants it; nobody looks at this one. */
    record Withdrawn() implements AcquireOutcome {}
}

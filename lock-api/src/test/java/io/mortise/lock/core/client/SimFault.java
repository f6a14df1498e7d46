// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.client;

/** A deliberate defect of the simulated store or backend: each must be caught by the rule that it breaks. */
enum SimFault {
    NONE,
    /** The store forgets a grant when half its lease has ended. */
    EXPIRES_EARLY,
    /** Every second grant has the token of the one before. */
    TOKEN_REPEATS,
    /** A release removes whoever holds the lock. */
    RELEASE_REMOVES_HOLDER,
    /** Renewing a removed grant makes it anew. */
    RENEWAL_RESURRECTS,
    /** No hints, and no fallback either. */
    NO_HINT_NO_FALLBACK,
    /** A request that executes after the withdrawal is served. */
    LATE_REQUEST_SERVED,
    /** The deadline counts from the answer, and without margin. */
    DEADLINE_FROM_ANSWER,
    /** Requests have no deadline of their own. */
    NO_REQUEST_TIMEOUT,
    /** The withdrawal is confirmed and not done. */
    WITHDRAWAL_NOT_DONE,
    /** The queue serves the last one first. */
    QUEUE_BACKWARDS
}

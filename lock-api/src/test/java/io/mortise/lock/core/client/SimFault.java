// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.client;

/** A deliberate defect of the simulated store or backend, which the check of the violated rule must detect. */
enum SimFault {
    NONE,
    /** The store drops a grant after half of its lease duration. */
    EXPIRES_EARLY,
    /** Every second grant has the token of the previous one. */
    TOKEN_REPEATS,
    /** A release removes whoever holds the lock. */
    RELEASE_REMOVES_HOLDER,
    /** The renewal of a removed grant creates it again. */
    RENEWAL_RESURRECTS,
    /** The store sends no hints, and waiters do not retry either. */
    NO_HINT_NO_FALLBACK,
    /** The store serves a request that executes after the withdrawal. */
    LATE_REQUEST_SERVED,
    /** The deadline counts from the reply instead of the request, and without a margin. */
    DEADLINE_FROM_REPLY,
    /** Requests have no timeout. */
    NO_REQUEST_TIMEOUT,
    /** The store confirms a withdrawal without executing it. */
    WITHDRAWAL_NOT_DONE,
    /** The queue serves the last waiter first. */
    QUEUE_BACKWARDS
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import java.time.Duration;
import java.util.Objects;

/** The result of one attempt to acquire a lock: granted, waiting, or displaced from the queue. */
public sealed interface AttemptResult {
    /**
     * The store granted the lock to the contender.
     *
     * @param token the fencing token, greater than that of every earlier grant of this name
     * @param validity the validity of the grant, or of the session on which the grant depends
     */
    record Granted(long token, GrantValidity validity) implements AttemptResult {
        public Granted {
            Objects.requireNonNull(validity, "validity");
        }
    }

    /**
     * Another contender holds the lock. The core tries again when {@link ContenderListener#wake()} is called, or after the
     * fallback time.
     *
     * @param retryAfter the fallback time, to which the core adds up to a fifth as jitter
     */
    record Waiting(Duration retryAfter) implements AttemptResult {
        public Waiting {
            Objects.requireNonNull(retryAfter, "retryAfter");
        }
    }

    /**
     * The queue entry of the contender was deleted. The core enqueues a new contender, and does not call
     * {@link Contender#end()} for this one: the backend has made sure that nothing of it remains in the store, or removes it.
     *
     * @param why the reason, for error messages and logs
     */
    record Displaced(String why) implements AttemptResult {
        public Displaced {
            Objects.requireNonNull(why, "why");
        }
    }
}

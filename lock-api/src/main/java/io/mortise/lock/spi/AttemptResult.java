// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import java.time.Duration;
import java.util.Objects;

/** Result of an attempt to acquire: granted, waiting, or displaced from the queue. */
public sealed interface AttemptResult {
    /**
     * The lock is ours.
     *
     * @param token the fencing token, more than that of any grant of this name before
     * @param validity what the grant's deadline hangs on
     */
    record Granted(long token, GrantValidity validity) implements AttemptResult {
        public Granted {
            Objects.requireNonNull(validity, "validity");
        }
    }

    /**
     * Somebody else holds it.
     *
     * @param retryAfter ask again on {@link ContenderListener#wake()}, at the latest after this; the core adds up to a fifth of it as
     *     jitter
     */
    record Waiting(Duration retryAfter) implements AttemptResult {
        public Waiting {
            Objects.requireNonNull(retryAfter, "retryAfter");
        }
    }

    /**
     * The queue entry is deleted: the core enqueues anew and forgets the contender, without {@link Contender#end()}. The backend
     * has made sure that nothing of it is left, or cleans it up.
     */
    record Displaced(String why) implements AttemptResult {
        public Displaced {
            Objects.requireNonNull(why, "why");
        }
    }
}

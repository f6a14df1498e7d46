// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import java.io.Serializable;
import java.util.Objects;

/**
 * Reason of a lost lease: its kind, and what was seen.
 *
 * @param kind what happened
 * @param detail one line for the log
 */
public record LossReason(Kind kind, String detail) implements Serializable {
    /** What ended the lease. */
    public enum Kind {
        /** No renewal succeeded before the deadline. */
        EXPIRED,
        /** The session of the lease ended. */
        SESSION_ENDED,
        /** Somebody removed the grant from the store. */
        REMOVED,
        /** {@link LockOptions#maxHold()} has passed. */
        MAX_HOLD,
        /** The client was closed. */
        CLIENT_CLOSED
    }

    public LossReason {
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(detail, "detail");
    }

    @Override
    public String toString() {
        return kind + " (" + detail + ")";
    }
}

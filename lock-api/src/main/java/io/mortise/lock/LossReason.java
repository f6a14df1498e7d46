// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import java.io.Serializable;
import java.util.Objects;

/**
 * The reason why a lease was lost.
 *
 * @param kind the category of the loss
 * @param detail a description for logs and error messages, in one line
 */
public record LossReason(Kind kind, String detail) implements Serializable {
    /** The category of a loss. */
    public enum Kind {
        /** No renewal succeeded before the deadline of the lease. */
        EXPIRED,
        /** The session on which the lease depends has ended. */
        SESSION_ENDED,
        /** The grant was removed from the store, for example by an operator. */
        REMOVED,
        /** The lease reached its {@linkplain LockOptions#maxHold() maximum hold}. */
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

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.recipe;

/** The reason why a {@link Term} ended; the first one counts. */
public enum TermEnd {
    /** The body returned. */
    RETURNED,
    /** The body threw an exception or an error. */
    FAILED,
    /** {@link Election#resign()} or {@link Term#resign()} was called. */
    RESIGNED,
    /** The lease was lost, so another candidate may lead already. */
    LOST,
    /** The election was closed. */
    CLOSED
}

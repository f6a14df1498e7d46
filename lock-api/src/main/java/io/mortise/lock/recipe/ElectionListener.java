// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.recipe;

/**
 * Callback that follows one {@link Election}, for metrics and alerts. Its methods run on the thread of the election, one at a
 * time, and must not block; what they throw is logged and changes nothing.
 */
public interface ElectionListener {
    /** Notifies that this candidate became the leader, before the body runs. */
    default void elected(Term term) {}

    /** Notifies that the body has ended, before the lock is released. */
    default void ended(Term term, TermEnd end) {}

    /**
     * Notifies of a failure after which the election continues: the body threw it, or the lock could not be acquired.
     *
     * @param failure what was thrown, an {@link Error} included
     */
    default void failed(Throwable failure) {}
}

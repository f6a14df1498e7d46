// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.recipe;

/** The work of a leader, which runs while a {@link Term} lasts. */
@FunctionalInterface
public interface TermBody {
    /**
     * Leads until the work is done or the term is over. A stop interrupts the thread, makes {@link Term#isOver()} return true,
     * and runs the callbacks of {@link Term#onStop}; use whichever suits the work.
     *
     * @throws Exception to end the term. The election reports it, except an {@link InterruptedException} or a
     *     {@link io.mortise.lock.LeaseLostException} after the stop
     */
    void lead(Term term) throws Exception;
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * One attempt to acquire a lock, as the backend sees it: it asks, waits in the store's queue, holds, and is ended. The core
 * never overlaps calls on one contender: the next comes when the stage of the one before has ended. Each stage ends within
 * about one request timeout. Stages may complete on the client's I/O threads; the core runs no user code there.
 */
public interface Contender {
    /**
     * Asks for the grant, or collects one that the server pushed; then without I/O. Idempotent by attempt id: asked again
     * after a lost reply it finds the same grant with the same token.
     *
     * @return failed with {@link io.mortise.lock.BackendUnavailableException}: unknown, will be asked again. Any other
     *     failure is final.
     */
    CompletionStage<AttemptResult> attempt();

    /**
     * Withdrawal and release in one: removes all that this contender has or may have in the store, granted or not, and defeats
     * whatever of it may still execute later. Idempotent.
     *
     * @return true: a grant or queue entry of ours was there and is removed. False: nothing was there and nothing can be left.
     *     Failed: unknown, the core repeats it.
     */
    CompletionStage<Boolean> end();

    /**
     * {@link #end()} has not succeeded for a whole lease duration: give up what the contender hangs on (its session, its
     * connection), so that the store removes it by itself (S8). Other leases of that session are lost with it.
     */
    default void abandon() {}

    /** See {@link io.mortise.lock.Lease#unwrap}. */
    default <T> Optional<T> unwrap(Class<T> type) {
        return Optional.empty();
    }
}

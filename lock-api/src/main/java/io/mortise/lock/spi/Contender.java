// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * One attempt to acquire a lock, from the request through the queue and the grant to the release.
 *
 * <p>The core never overlaps calls on one contender: it makes the next call after the stage of the previous one has completed.
 * Each stage must complete within about one request timeout. Stages may complete on the I/O threads of the store's client; the
 * core runs no user code there.
 */
public interface Contender {
    /**
     * Requests the grant, or returns a grant that the server has already pushed, in that case without I/O. Idempotent by
     * attempt id: a retry after a lost reply returns the same grant with the same token.
     *
     * @return a stage with the result. If it fails with {@link io.mortise.lock.BackendUnavailableException}, the outcome is
     *     unknown and the core retries; every other failure is final
     */
    CompletionStage<AttemptResult> attempt();

    /**
     * Withdraws or releases the contender: removes its grant or queue entry from the store, and makes sure that requests which
     * are still on their way cannot create one later. Idempotent. The core calls it after a loss too, but not if the last attempt
     * returned {@link AttemptResult.Displaced}.
     *
     * @return a stage with true if a grant or queue entry of this contender existed and was removed, and with false if none
     *     existed and none can appear later. If it fails, the outcome is unknown and the core retries
     */
    CompletionStage<Boolean> end();

    /**
     * Releases the grant with a delay: from now on it depends on no client, session or renewal, and the store drops it when the
     * delay has passed. Never creates a grant again. A late renewal or attempt of this contender must not change the delay.
     * Idempotent; a repetition keeps the grant no longer. The core calls it only on a backend with
     * {@link io.mortise.lock.Capability#DELAYED_RELEASE}, and calls {@link #attempt()} no more. Default: fails.
     *
     * @param delay more than zero, counted from the execution of the request; the store rounds it up
     * @return a stage with whether the grant existed and is kept for the delay. If it fails, the outcome is unknown and the core
     *     retries with the rest of the delay
     */
    default CompletionStage<Boolean> endAfter(Duration delay) {
        return CompletableFuture.failedFuture(new UnsupportedOperationException("no DELAYED_RELEASE"));
    }

    /**
     * Gives up the session or connection on which the contender depends, so that the store removes the contender without a
     * request (S8). The core calls it if {@link #end()} has not succeeded for a whole lease duration, nor in a try after
     * that. All other leases of that session are lost too. Default: does nothing.
     */
    default void abandon() {}

    /** Returns a backend-specific extension of the lease; see {@link io.mortise.lock.Lease#unwrap}. Default: empty. */
    default <T> Optional<T> unwrap(Class<T> type) {
        return Optional.empty();
    }
}

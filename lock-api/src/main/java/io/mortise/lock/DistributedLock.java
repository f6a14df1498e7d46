// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * A handle on one named lock: at most one owner holds it at a time, over all processes that use the same store (S1).
 *
 * <p>Immutable and thread-safe. An owner is a lease, not a thread (S4): a thread that acquires twice waits for itself.
 * Take it outside a transaction, and release it after the commit.
 * All methods that wait are answered by an exception, not a hang, when the store cannot be reached (S15):
 * {@link BackendUnavailableException}, {@link BackendRefusedException} or {@link ClientClosedException}.
 */
public interface DistributedLock {
    /** The name as the application gave it. */
    String name();

    /**
     * Waits until the lock is granted, the thread is interrupted, or the store has been out of reach for
     * {@link ClientOptions#unavailableAfter()} (S9, S15).
     *
     * @throws InterruptedException within 50 ms of the interrupt; the request is withdrawn (S10)
     */
    Lease acquire() throws InterruptedException;

    /** One attempt: one round trip, at most one request timeout. Empty: somebody else holds the lock (S9). */
    Optional<Lease> tryAcquire() throws InterruptedException;

    /**
     * Waits at most {@code maxWait}. Empty means busy all that time; if the store stopped answering meanwhile the answer
     * is {@link BackendUnavailableException} instead (S15). Zero is {@link #tryAcquire()}.
     *
     * @throws IllegalArgumentException if {@code maxWait} is negative
     */
    Optional<Lease> tryAcquire(Duration maxWait) throws InterruptedException;

    /**
     * As {@link #acquire()} without blocking. However the future ends early ({@code cancel}, {@code orTimeout},
     * {@code complete}), the request is withdrawn, or the grant released if it came at the same moment (S8). A stage
     * derived from it withdraws nothing when it is cancelled; use {@link #callAsync} to tie a lease to a stage. Stages run
     * on the {@linkplain ClientOptions#callbackExecutor() callback executor}.
     */
    CompletableFuture<Lease> acquireAsync();

    /** As {@link #tryAcquire(Duration)} without blocking; ends early as {@link #acquireAsync()} does. */
    CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration maxWait);

    /**
     * Acquires, runs the body, releases. A transaction of the body's must be committed in the body: one that is around this
     * call commits after the release, when the next holder has begun already.
     *
     * @throws LeaseLostException if the body ended well but the lease was lost meanwhile
     */
    <X extends Exception> void run(LeaseAction<X> body) throws X, InterruptedException;

    /** As {@link #run} with bounded waiting; false if the lock was busy all that time and the body did not run. */
    <X extends Exception> boolean tryRun(Duration maxWait, LeaseAction<X> body) throws X, InterruptedException;

    /** As {@link #run} for a body with a result. */
    <T, X extends Exception> T call(LeaseFunction<T, X> body) throws X, InterruptedException;

    /**
     * As {@link #call} with bounded waiting; empty if the lock was busy all that time and the body did not run.
     *
     * @param body must not return null, which could not be told from busy
     */
    <T, X extends Exception> Optional<T> tryCall(Duration maxWait, LeaseFunction<T, X> body)
            throws X, InterruptedException;

    /**
     * Acquires, runs the body on the callback executor, and releases when the stage that it returns ends. Ending the
     * returned future early withdraws a request that still waits; a body that has started keeps its lease until its
     * stage ends. A body that blocks its thread keeps a thread of the executor, and with it other notices, waiting. Fails
     * with {@link LeaseLostException} if the stage ended well but the lease was lost meanwhile.
     */
    <T> CompletableFuture<T> callAsync(Function<? super Lease, ? extends CompletionStage<T>> body);

    /**
     * Who holds this lock and who waits for it.
     *
     * @throws UnsupportedOperationException if {@link LockClient#admin()} is empty
     */
    CompletableFuture<LockStatus> status();
}

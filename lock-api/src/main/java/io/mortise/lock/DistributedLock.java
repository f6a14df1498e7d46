// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * A named lock that at most one owner holds at a time, across all processes that use the same store.
 *
 * <p>Rule S1. Immutable and thread-safe. The owner is a {@link Lease}, not a thread (S4): the lock is not reentrant, and a
 * thread that acquires it twice waits for itself. Acquire it before a transaction begins, and release it after the commit.
 *
 * <p>No method waits forever for a store that does not respond (S15). Methods that wait fail with
 * {@link BackendUnavailableException} if the store does not respond, with {@link BackendRefusedException} if it rejects the
 * request, and with {@link ClientClosedException} if the client is closed.
 */
public interface DistributedLock {
    /** Returns the name of the lock, as the application passed it to the client. */
    String name();

    /**
     * Acquires the lock, and waits as long as another owner holds it (S9).
     *
     * @return the lease, which the caller must release
     * @throws InterruptedException if the thread is interrupted: within 50 ms, and the request is withdrawn (S10)
     * @throws BackendUnavailableException if no request was successful for {@link ClientOptions#unavailableAfter()} (S15)
     */
    Lease acquire() throws InterruptedException;

    /**
     * Acquires the lock if it is free. This makes one attempt, which takes at most one request timeout (S9). It is one round trip
     * to the store; on etcd two if the lock is busy, on Redlock more if attempts collide.
     *
     * @return the lease, which the caller must release; empty if another owner holds the lock
     * @throws InterruptedException if the thread is interrupted: within 50 ms, and the request is withdrawn (S10)
     * @throws BackendUnavailableException if the store does not respond (S15)
     */
    Optional<Lease> tryAcquire() throws InterruptedException;

    /**
     * Acquires the lock, and waits for it at most {@code maxWait}. The call returns less than 50 ms after that limit (S9).
     *
     * @param maxWait zero or more; zero makes one attempt, as {@link #tryAcquire()} does
     * @return the lease, which the caller must release; empty if another owner held the lock until the limit
     * @throws InterruptedException if the thread is interrupted: within 50 ms, and the request is withdrawn (S10)
     * @throws BackendUnavailableException if the store stopped responding, so that it is not known whether the lock is busy
     *     (S15)
     * @throws IllegalArgumentException if {@code maxWait} is negative
     */
    Optional<Lease> tryAcquire(Duration maxWait) throws InterruptedException;

    /**
     * Acquires the lock as {@link #acquire()} does, without blocking.
     *
     * <p>If the caller ends the future early, by {@code cancel}, {@code orTimeout} or {@code complete}, the request is
     * withdrawn; a grant that arrives at the same moment is released (S8). To cancel a stage that is derived from the future
     * withdraws nothing: use {@link #callAsync} to tie a lease to a stage. Stages that are added before the future completes run
     * on the {@linkplain ClientOptions#callbackExecutor() callback executor}, later ones on the thread that adds them.
     *
     * @return a new future, which fails with the {@link LockException}s of {@link #acquire()}
     */
    CompletableFuture<Lease> acquireAsync();

    /**
     * Acquires the lock as {@link #tryAcquire(Duration)} does, without blocking. The caller can end the future early, as that
     * of {@link #acquireAsync()}.
     *
     * @param maxWait zero or more; zero makes one attempt
     * @return a new future; its value is empty if another owner held the lock until the limit
     * @throws IllegalArgumentException if {@code maxWait} is negative
     */
    CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration maxWait);

    /**
     * Acquires the lock, runs the body on the calling thread, and releases the lock. If the body uses a transaction, commit it
     * inside the body: a transaction around this call commits after the release, when the next holder may already be at work.
     *
     * <p>The release waits at most one request timeout. If its outcome is {@link ReleaseOutcome#UNKNOWN}, this method returns
     * normally; use {@link #acquire()} and {@link Lease#release()} to tell the difference.
     *
     * @param body the code that needs the lock
     * @throws X if the body throws it; a loss of the lease is then a suppressed {@link LeaseLostException}
     * @throws LeaseLostException if the body returned normally, but the lease was lost before the release
     */
    <X extends Exception> void run(LeaseAction<X> body) throws X, InterruptedException;

    /**
     * Does the same as {@link #run}, but waits for the lock at most {@code maxWait}.
     *
     * @param maxWait as in {@link #tryAcquire(Duration)}
     * @return false if another owner held the lock until the limit, so that the body did not run
     */
    <X extends Exception> boolean tryRun(Duration maxWait, LeaseAction<X> body) throws X, InterruptedException;

    /**
     * Does the same as {@link #run}, for a body with a result.
     *
     * @return the result of the body
     */
    <T, X extends Exception> T call(LeaseFunction<T, X> body) throws X, InterruptedException;

    /**
     * Does the same as {@link #call}, but waits for the lock at most {@code maxWait}.
     *
     * @param maxWait as in {@link #tryAcquire(Duration)}
     * @param body must not return null, which could not be distinguished from a busy lock
     * @return the result of the body; empty if another owner held the lock until the limit, so that the body did not run
     */
    <T, X extends Exception> Optional<T> tryCall(Duration maxWait, LeaseFunction<T, X> body)
            throws X, InterruptedException;

    /**
     * Acquires the lock, runs the body on the callback executor, and releases the lock when the body's stage completes.
     *
     * <p>If the caller ends the returned future early, a request that still waits is withdrawn; a body that has started keeps
     * its lease until its stage completes. The body should not block: it would occupy a thread of the
     * {@linkplain ClientOptions#callbackExecutor() callback executor}, and could delay loss notifications.
     *
     * @return a new future with the value of the stage; it fails with {@link LeaseLostException} if the stage completed
     *     normally, but the lease was lost before the release
     */
    <T> CompletableFuture<T> callAsync(Function<? super Lease, ? extends CompletionStage<T>> body);

    /**
     * Returns this lock as a {@link java.util.concurrent.locks.Lock}, for code that takes that type: reentrant, and owned by a
     * thread. Each call returns a new one, which counts its holds alone: share one among the code that may nest.
     */
    LeaseLock asLock();

    /**
     * Returns which owner holds this lock, and which contenders wait for it.
     *
     * @throws UnsupportedOperationException if {@link LockClient#admin()} is empty
     */
    CompletableFuture<LockStatus> status();
}

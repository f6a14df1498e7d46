// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * One grant of a lock to one owner.
 *
 * <p>The client renews a lease automatically until it is released or lost. A lease ends exactly once. It belongs to no thread:
 * any thread may query or release it (S4). Thread-safe.
 */
public interface Lease extends AutoCloseable {
    /** Returns the name of the lock. */
    String lockName();

    /** Returns the id of this grant, as operators see it: 128 random bits in hexadecimal, new for each grant. */
    String ownerId();

    /**
     * Returns the fencing token, which is greater than that of every earlier grant of this lock, by any client (S3).
     *
     * <p>Send it to the protected resource with each write. A resource that rejects tokens below the highest one it has seen is
     * safe even if a former holder still considers its lease valid.
     *
     * @throws UnsupportedOperationException if the backend does not offer {@link Capability#FENCING}
     */
    long fencingToken();

    /**
     * Returns whether the grant is certainly valid now (S2).
     *
     * <p>It compares the monotonic clock with the deadline of the lease, without I/O. Once false, it never returns true again.
     * It returns false at the first call after the deadline, even if the process was paused and has received no message since.
     */
    boolean isHeld();

    /**
     * Throws an exception unless {@link #isHeld()} returns true.
     *
     * @throws LeaseLostException with the reason of the loss
     */
    void ensureHeld();

    /** Returns the time until the lease ends if no further renewal succeeds; zero if it is not held. */
    Duration remaining();

    /**
     * Returns a future that completes with the reason when the lease is lost, at its deadline at the latest (S7).
     *
     * <p>It does not complete if the lease is released. Stages that are added before the loss run on the
     * {@linkplain ClientOptions#callbackExecutor() callback executor}, later ones on the thread that adds them. Each call returns a
     * new future, which the lease keeps until it is lost: register once, and poll {@link #isHeld()} instead.
     */
    CompletableFuture<LossReason> lost();

    /**
     * Registers a callback that runs once when {@link #remaining()} has decreased to {@code before}.
     *
     * <p>That happens if renewals fail, or if the {@linkplain LockOptions#maxHold() maximum hold} is close. The callback runs
     * on the {@linkplain ClientOptions#callbackExecutor() callback executor}; immediately if the remaining time is already that
     * short, and not at all after a release or a loss.
     *
     * @param before the remaining time at which the callback runs, more than zero
     * @throws IllegalArgumentException if {@code before} is not positive
     */
    void onExpiring(Duration before, Runnable callback);

    /**
     * Ends the lease, and waits for the store at most one {@linkplain ClientOptions#requestTimeout() request timeout}.
     *
     * <p>Idempotent: every call returns the same outcome. It removes only this grant, never that of a later owner (S5). If the
     * thread is interrupted, the outcome is {@link ReleaseOutcome#UNKNOWN}, the interrupt flag is kept, and the release
     * continues in the background.
     *
     * @return whether the grant was valid until the release
     */
    ReleaseOutcome release();

    /**
     * Ends the lease as {@link #release()} does, without blocking.
     *
     * @return a new future, which never fails; cancelling it does not stop the release
     */
    CompletableFuture<ReleaseOutcome> releaseAsync();

    /**
     * Ends the lease now, but lets the store keep the lock taken for {@code delay}; waits as long as {@link #release()} does.
     *
     * <p>Nobody holds the lock meanwhile, and nothing renews it: it becomes free by itself, even if the client closes or the
     * process ends. That happens no earlier than {@code delay} after this call, and no later than {@code delay} after the store
     * executed the request, plus the granularity of its expiry (S5). {@link LockAdmin#forceRelease} frees it earlier. If the
     * lease has ended already, nothing is kept, and the outcome is that of the first release.
     *
     * @param delay zero or more, zero being the same as {@link #release()}; at most 1 hour, or less if the backend
     *     limits leases more, such as Redlock by its {@code maxLease}
     * @return whether the grant was valid until this call
     * @throws UnsupportedOperationException if the backend does not offer {@link Capability#DELAYED_RELEASE}; the lease is
     *     still held then
     * @throws IllegalArgumentException if {@code delay} is out of range; the lease is still held then (S14)
     */
    ReleaseOutcome releaseAfter(Duration delay);

    /**
     * Ends the lease as {@link #releaseAfter} does, without blocking.
     *
     * @return a new future, which never fails; cancelling it does not stop the release
     */
    CompletableFuture<ReleaseOutcome> releaseAfterAsync(Duration delay);

    /**
     * Returns a backend-specific extension, such as a fencing condition for the application's own writes to the store.
     *
     * @return empty if the backend has no extension of that type
     */
    <T> Optional<T> unwrap(Class<T> type);

    /**
     * Releases the lease, and logs a warning unless the outcome is {@link ReleaseOutcome#RELEASED}. Never throws.
     *
     * <p>If the application must know that it held the lock until here, it calls {@link #ensureHeld()} before, or uses
     * {@link DistributedLock#run}.
     */
    @Override
    void close();
}

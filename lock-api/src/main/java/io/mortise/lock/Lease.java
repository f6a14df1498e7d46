// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * One grant of a lock to one owner. It is renewed by itself until it is released or lost, and ends exactly once.
 * Thread-safe: any thread may ask, and any thread may release (S4).
 */
public interface Lease extends AutoCloseable {
    /** The name of the lock. */
    String lockName();

    /** The id of this grant, 128 random bits in hexadecimal; new for each grant, and what an operator sees. */
    String ownerId();

    /**
     * Rises strictly with each grant of this lock by any client (S3). Hand it to the resource with each write: a resource
     * that refuses tokens below the highest it has seen is safe even when a holder believes too long.
     *
     * @throws UnsupportedOperationException if the backend has no {@link Capability#FENCING}
     */
    long fencingToken();

    /**
     * Whether the grant is certainly valid now (S2). Local, no I/O, by the monotonic clock; once false, never true again.
     * False at the first call after a pause longer than the deadline, even if nothing was received meanwhile.
     */
    boolean isHeld();

    /**
     * Throws unless {@link #isHeld()}.
     *
     * @throws LeaseLostException with the reason
     */
    void ensureHeld();

    /** Until the deadline if no renewal succeeds any more; zero when not held. */
    Duration remaining();

    /**
     * Completes with the reason when the lease is lost, once, by its deadline at the latest; never after a release (S7).
     * Its stages run on the {@linkplain ClientOptions#callbackExecutor() callback executor}. Each call returns a future of its own.
     */
    CompletableFuture<LossReason> lost();

    /**
     * Runs the callback once, on the callback executor, when {@link #remaining()} falls to {@code before}: renewals have
     * been failing, or the maximum hold is near. At once if it is that low already; never after a release or loss.
     *
     * @throws IllegalArgumentException if {@code before} is not positive
     */
    void onExpiring(Duration before, Runnable callback);

    /**
     * Ends the lease and waits for the store, at most one {@linkplain ClientOptions#requestTimeout() request timeout}.
     * Idempotent: every call gives the same outcome. Touches only this grant, never a successor (S5). If the thread is
     * interrupted the outcome is {@link ReleaseOutcome#UNKNOWN}, the flag is kept and the release goes on.
     */
    ReleaseOutcome release();

    /** As {@link #release()} without blocking; never fails, and cancelling it does not stop the release. */
    CompletableFuture<ReleaseOutcome> releaseAsync();

    /** What the backend offers beyond this interface, such as a guard for the application's own writes to the store. */
    <T> Optional<T> unwrap(Class<T> type);

    /**
     * {@link #release()}, with a warning in the log unless the outcome is RELEASED. Never throws: whoever must know that the lock
     * was held until here calls {@link #ensureHeld()} before, or uses {@link DistributedLock#run}.
     */
    @Override
    void close();
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * A {@link DistributedLock} as a {@link Lock}, for code that takes that type; reentrant, and owned by a thread.
 *
 * <p>{@link DistributedLock#asLock} returns it. The first hold of a thread acquires a {@link Lease}, the last {@link #unlock}
 * releases it. Holds are counted for each thread and each {@code LeaseLock}: a thread that holds one of them and locks another
 * one of the same name waits for itself (S4), so share one instance, as one shares a {@link
 * java.util.concurrent.locks.ReentrantLock}. Thread-safe.
 *
 * <p><b>A {@code Lock} cannot report that it was lost</b>, but a lease can end while the thread is at work, and then another
 * process may hold the lock (S1). The next call of the holder reports it: {@link #unlock}, and every method that would count
 * another hold, throw {@link LeaseLostException}. In between only {@link #lease()} tells: call {@link Lease#ensureHeld()} before a
 * write, or send its fencing token with the write. New code should use {@link DistributedLock#run}.
 *
 * <p>All methods that acquire throw {@link BackendUnavailableException}, {@link BackendRefusedException} and {@link
 * ClientClosedException} as those of {@link DistributedLock} do. The thread then has as many holds as before.
 */
public interface LeaseLock extends Lock {
    /**
     * Returns the lease of the calling thread, which may have ended. Leave its release to {@link #unlock}.
     *
     * @throws IllegalMonitorStateException if the calling thread does not hold this lock
     */
    Lease lease();

    /** Returns how often the calling thread must call {@link #unlock}; zero if it does not hold this lock. */
    int holdCount();

    /**
     * Acquires the lock, and waits as long as another owner holds it. An interrupt does not end the wait, and costs no place in
     * the queue; the interrupt flag is kept.
     *
     * @throws BackendUnavailableException if no request was successful for {@link ClientOptions#unavailableAfter()} (S15)
     * @throws LeaseLostException if the thread holds this lock already, but its lease was lost; the number of holds is unchanged
     */
    @Override
    void lock();

    /**
     * Acquires the lock as {@link #lock()} does, unless the thread is interrupted.
     *
     * @throws InterruptedException if the thread is interrupted: within 50 ms, and the request is withdrawn (S10)
     * @throws LeaseLostException as {@link #lock()}
     */
    @Override
    void lockInterruptibly() throws InterruptedException;

    /**
     * Acquires the lock if it is free, in one attempt, which takes at most one request timeout (S9). An interrupt does not end it;
     * the interrupt flag is kept.
     *
     * @throws BackendUnavailableException if the store does not respond, so that it is not known whether the lock is free (S15)
     * @throws LeaseLostException as {@link #lock()}
     */
    @Override
    boolean tryLock();

    /**
     * Acquires the lock, and waits for it at most for that time.
     *
     * @param time zero or less makes one attempt; more than 36,500 days counts as that
     * @throws InterruptedException if the thread is interrupted: within 50 ms, and the request is withdrawn (S10)
     * @throws BackendUnavailableException if the store stopped responding, so that it is not known whether the lock is busy (S15)
     * @throws LeaseLostException as {@link #lock()}
     */
    @Override
    boolean tryLock(long time, TimeUnit unit) throws InterruptedException;

    /**
     * Removes one hold of the calling thread; the last one releases the lease. That waits for the store at most one request
     * timeout, also if the thread is interrupted; without a reply by then it returns, and the release continues in the background.
     *
     * @throws IllegalMonitorStateException if the calling thread does not hold this lock
     * @throws LeaseLostException if the lease was lost, so that the work since {@link #lock()} may have overlapped with another
     *     holder's; the hold is removed all the same
     */
    @Override
    void unlock();

    /** Throws an exception: no store has conditions. */
    @Override
    default Condition newCondition() {
        throw new UnsupportedOperationException("a distributed lock has no conditions");
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import io.mortise.lock.Lease;
import io.mortise.lock.spi.LockName;
import java.util.Objects;

/**
 * Gives a {@link Locked} method, and what it calls on the same thread, its lease. The methods may be called by any thread, and
 * answer for that thread.
 *
 * <p>A thread on which the method goes on asynchronously has no current lease: pass it along. In a {@code Mono} or {@code Flux} use
 * {@link ReactiveCurrentLease}.
 */
public final class CurrentLease {
    private CurrentLease() {}

    /**
     * Returns the lease of the innermost {@link Locked} method or {@link LockTemplate} body that is running on this thread.
     *
     * @throws IllegalStateException if there is none
     */
    public static Lease get() {
        return HeldLock.current(null)
                .orElseThrow(() -> new IllegalStateException(
                        "no @Locked method and no body of a " + "LockTemplate is running on thread \""
                                + Thread.currentThread().getName() + "\""));
    }

    /**
     * Returns the lease of one lock, if several nested methods hold one each.
     *
     * @param lockName the name of the lock, as computed from {@link Locked#name()}
     * @throws IllegalStateException if no method that is running on this thread holds the lock
     */
    public static Lease get(String lockName) {
        Objects.requireNonNull(lockName, "lockName");
        return HeldLock.current(lockName)
                .orElseThrow(
                        () -> new IllegalStateException("no @Locked method and no body of a LockTemplate with lock \""
                                + LockName.shown(lockName) + "\" is running on thread \""
                                + Thread.currentThread().getName() + "\""));
    }

    /**
     * Returns the {@linkplain Lease#fencingToken() fencing token} of {@link #get()}, to be sent to the resource with each write
     * (S3).
     *
     * @throws IllegalStateException if there is no current lease
     * @throws UnsupportedOperationException if the backend gives no fencing tokens
     */
    public static long fencingToken() {
        return get().fencingToken();
    }
}

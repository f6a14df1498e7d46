// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import io.mortise.lock.Capability;
import io.mortise.lock.LockAdmin;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * One client's connection to a store, on which it acquires and renews grants.
 *
 * <p>This is the full SPI for backends; {@link LeaseStore} is a simpler one. Implementations must be thread-safe, and no method
 * may block except {@link #close()}. The core implements waiting, retries, deadlines, the renewal schedule and the notification
 * of losses. A backend only reports the replies of the store, and until when a grant is certainly valid.
 */
public interface LockBackend extends AutoCloseable {
    /**
     * Returns the servers of the store in readable form, without secrets. Every message about an outage contains them. Does no I/O;
     * never throws.
     */
    String endpoints();

    /**
     * Returns the kind of store in lower case, such as {@code redis}, by which metrics and traces distinguish the backends of an
     * application; always the same one. Default: {@code custom}.
     */
    default String kind() {
        return "custom";
    }

    /** Returns the guarantees that this backend offers; always the same ones. */
    Set<Capability> capabilities();

    /**
     * Returns how long the store keeps a grant that is not renewed. With {@link Capability#PER_LOCK_LEASE} this is the
     * requested duration, rounded up to one that the store supports, or the default. Without it this is the duration of the
     * session.
     *
     * @param requested the duration from the lock's options; empty for the default
     * @throws IllegalArgumentException if the store does not support the requested duration; the message names the limit (S14)
     */
    Duration leaseDuration(Optional<Duration> requested);

    /**
     * Rejects a delay of {@link Contender#endAfter} that the store does not support. Does no I/O. Default: accepts all.
     *
     * @param delay more than zero, at most 1 h
     * @throws IllegalArgumentException if the store does not support it; the message names the limit (S14)
     */
    default void checkReleaseDelay(Duration delay) {}

    /**
     * Returns whether the store has a queue of waiters. If true, each waiter is a contender in that queue. If false, the core
     * queues the waiters of this process, and sends the requests of one at a time.
     */
    boolean queuesWaiters();

    /**
     * Creates a contender. Does no I/O, never fails, and does not call the listener before the first
     * {@link Contender#attempt()}.
     *
     * @param listener receives hints, and the loss of this one grant
     */
    Contender enqueue(LockRequest request, ContenderListener listener);

    /**
     * Renews the given grants or sessions, in as few requests as the store allows. The backend reports each result to its
     * {@link GrantValidity}. Those without a result after one request timeout are passed to this method again. A failure of one
     * must not affect the others.
     */
    void renew(List<GrantValidity> due);

    /** Returns the operations for operators; empty if the backend does not support administration, which is the default. */
    default Optional<LockAdmin> admin() {
        return Optional.empty();
    }

    /** Closes connections and ends threads, within about one request timeout. Idempotent; never throws. */
    @Override
    void close();
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import io.mortise.lock.Capability;
import io.mortise.lock.LockAdmin;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The full SPI: one connection to a store. Thread-safe; no method blocks except {@link #close()}.
 *
 * <p>The core does the waiting, the retries, the deadlines, the renewal schedule and the announcements; a backend says what
 * the store said, and until when a grant is certainly valid.
 */
public interface LockBackend extends AutoCloseable {
    /** The endpoints that it talks to, as people write them, without secrets: every message about an outage names them. */
    String endpoints();

    /** What this backend promises; constant. */
    Set<Capability> capabilities();

    /**
     * How long the store keeps the grant of a silent holder: with PER_LOCK_LEASE the value that {@code asked} comes to
     * after rounding up, and the default for empty; else the session's, whatever is asked.
     *
     * @throws IllegalArgumentException if it cannot keep that, with the limit and the value (S14)
     */
    Duration leaseDuration(Optional<Duration> asked);

    /** True: each waiter is a contender in the store's own queue. False: the core's local queue sends one at a time. */
    boolean queuesWaiters();

    /**
     * A new request. No I/O, cannot fail, does not call the waiter before the first {@link Contender#attempt()}.
     *
     * @param waiter hears hints and the loss of this one grant
     */
    Contender enqueue(LockRequest request, ContenderListener waiter);

    /**
     * Renews all that is due, in as few requests as the store allows. Each is answered through its {@link GrantValidity}; one
     * that is not answered in a request timeout comes again. A failure of one must not touch the others.
     */
    void renew(List<GrantValidity> due);

    /** The operator's view; empty if the backend does not support administration. */
    default Optional<LockAdmin> admin() {
        return Optional.empty();
    }

    /** Ends connections and threads within about one request timeout. Idempotent, never throws. */
    @Override
    void close();
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import java.util.Optional;
import java.util.Set;

/**
 * A connection to one store, from which an application obtains its locks. Thread-safe; an application keeps one client for its
 * lifetime and closes it at the end.
 */
public interface LockClient extends AutoCloseable {
    /** Returns the lock with the given name and {@linkplain LockOptions#defaults() default options}. */
    DistributedLock named(String name);

    /**
     * Returns the lock with the given name and options. This does no I/O, and the client keeps no state for the lock (S17).
     *
     * @param name 1 to 512 bytes of UTF-8, case-sensitive, not normalised; {@code /} is an ordinary character (S13)
     * @param options the options of the leases of this lock
     * @throws IllegalArgumentException if the name is empty, too long or has an unpaired surrogate, or if this backend does not
     *     support an option (S14)
     */
    DistributedLock named(String name, LockOptions options);

    /** Returns the guarantees that the backend offers in addition to mutual exclusion. */
    Set<Capability> capabilities();

    /** Returns the operations for operators; empty if the backend does not support administration. */
    Optional<LockAdmin> admin();

    /**
     * Releases all leases, ends all waits and closes the connection (S16). Idempotent; never throws.
     *
     * <p>Once this method begins, no lease is delivered. Waiters fail with {@link ClientClosedException}. Holders lose their
     * leases with {@link LossReason.Kind#CLIENT_CLOSED}. The method waits at most about one request timeout for pending
     * releases and withdrawals, and at most 1.5 s more for the connection to end. If a grant could not be removed, the log
     * names it and the time after which the store drops it. An interrupt, such as one by a callback of the losses, does not end
     * the wait for releases and withdrawals; the interrupt flag is kept.
     */
    @Override
    void close();
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import java.util.Optional;
import java.util.Set;

/**
 * A connection to one store, through which locks are obtained. Thread-safe; an application keeps one for its lifetime and
 * closes it at the end.
 */
public interface LockClient extends AutoCloseable {
    /** As {@link #named(String, LockOptions)} with {@link LockOptions#defaults()}. */
    DistributedLock named(String name);

    /**
     * A handle on the lock of that name. No I/O, and the client keeps no state for it (S17).
     *
     * @param name 1 to 512 bytes of UTF-8, case-sensitive, not normalised; {@code /} is an ordinary character (S13)
     * @throws IllegalArgumentException if the name is empty, too long or has an unpaired surrogate, or an option cannot
     *     be honoured by this backend (S14)
     */
    DistributedLock named(String name, LockOptions options);

    /** What the backend promises. */
    Set<Capability> capabilities();

    /** The operator's view of the store; empty if the backend does not support administration. */
    Optional<LockAdmin> admin();

    /**
     * Ends the client (S16): from the call on no lease is delivered, waiters fail with {@link ClientClosedException},
     * held leases are released and their holders told {@link LossReason.Kind#CLIENT_CLOSED}. Waits at most about one
     * request timeout for the withdrawals, and as long again for the connection to end; what could not be withdrawn is
     * logged with the time by which the store drops it.
     * Idempotent, never throws; an interrupt ends the wait and the flag is kept.
     */
    @Override
    void close();
}

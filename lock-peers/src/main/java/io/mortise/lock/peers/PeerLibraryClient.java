// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/**
 * A client of another lock library, with its own connections to the store, so that it behaves like a client in a separate
 * process.
 */
interface PeerLibraryClient extends AutoCloseable {
    /**
     * Acquires a lock by the peer's blocking API.
     *
     * @param maxWait empty to wait without a limit, zero for one attempt
     * @return empty if the lock is busy
     * @throws InterruptedException if the peer reports an interrupt
     * @throws Exception any other failure that the peer reports
     */
    Optional<PeerGrant> acquire(String name, Optional<Duration> maxWait) throws Exception;

    /** Returns the ids of the store's leases on which the locks of this client depend; none if the store has no leases. */
    default Set<Long> leases() {
        return Set.of();
    }

    @Override
    void close() throws Exception;
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import java.time.Duration;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/**
 * Acquires, renews and releases leases in a store that supports compare-and-set.
 *
 * <p>This is the simple SPI for backends; {@link LeaseStoreBackend} adapts an implementation to the full SPI. Implementations
 * must be thread-safe. If a stage fails, the outcome of the request is unknown, unless the failure is a
 * {@link io.mortise.lock.BackendRefusedException}; the core gives each stage a deadline of one request timeout. The code that
 * creates an instance must connect to the store first, so that no client is opened for a store that does not respond (S15).
 */
public interface LeaseStore extends AutoCloseable {
    /**
     * Grants the lock if it is free, or if the holder's lease has ended by the clock of the store. Idempotent: a retry with the
     * same attempt id returns the same token while the grant is valid.
     *
     * @param ownerRecord the text to store with the grant, verbatim; starts with the attempt id
     * @param lease the lease duration
     */
    CompletionStage<Answer> tryAcquire(LockName name, String ownerRecord, Duration lease);

    /**
     * Extends each grant that the store still has, so that it ends {@code lease} from now. Never creates a grant again (S6).
     *
     * @return a stage with those of the grants that the store no longer has
     */
    CompletionStage<Set<Grant>> renew(Collection<Grant> grants, Duration lease);

    /**
     * Removes this grant, and never that of another attempt (S5).
     *
     * @return a stage with whether the store still had the grant
     */
    CompletionStage<Boolean> release(Grant grant);

    /** Returns the endpoints of the store; see {@link LockBackend#endpoints()}. */
    String endpoints();

    /** Closes the store's client, within about one second. Never throws. */
    @Override
    void close();

    /** The identity of one grant: the name of the lock, and the id of the attempt that acquired it. */
    record Grant(LockName name, String attemptId) {}

    /** The store's reply to {@link #tryAcquire}. */
    sealed interface Answer {
        /** The lock is granted, with a token greater than that of every earlier grant of this name. Rule S3. */
        record Token(long token) implements Answer {}

        /** Another attempt, with the given owner record, holds the lock. */
        record HeldBy(String ownerRecord) implements Answer {}
    }
}

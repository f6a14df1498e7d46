// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import java.time.Duration;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/**
 * The simple SPI: three asynchronous operations on a store with compare-and-set. {@link LeaseStoreBackend} makes a backend of
 * it. Thread-safe. A stage that fails means unknown, unless it fails with {@link io.mortise.lock.BackendRefusedException}; the
 * core gives each a deadline of one request timeout. Whoever makes one contacts the store first: a client for a store that
 * does not answer is not opened (S15).
 */
public interface LeaseStore extends AutoCloseable {
    /**
     * Grants the lock if nobody holds it or the holder's lease has ended by the store's own clock. Asked again with the same
     * attempt id while its grant is valid, it answers with the same token.
     *
     * @param ownerRecord to be stored verbatim; begins with the attempt id
     */
    CompletionStage<Answer> tryAcquire(LockName name, String ownerRecord, Duration lease);

    /**
     * Extends each grant that is still ours by {@code lease} from now, and re-creates none (S6).
     *
     * @return those that are no longer ours
     */
    CompletionStage<Set<Grant>> renew(Collection<Grant> grants, Duration lease);

    /** Removes the grant if it is ours (S5). Returns whether it was there. */
    CompletionStage<Boolean> release(Grant grant);

    /** See {@link LockBackend#endpoints()}. */
    String endpoints();

    /** Frees what the store's client holds; at most about a second, never throws. */
    @Override
    void close();

    /** What names a grant. */
    record Grant(LockName name, String attemptId) {}

    /** What the store said to {@link #tryAcquire}. */
    sealed interface Answer {
        /** Ours, with a token above that of any grant of this name before (S3). */
        record Token(long token) implements Answer {}

        /** Somebody else's; their owner record. */
        record HeldBy(String ownerRecord) implements Answer {}
    }
}

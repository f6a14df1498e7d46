// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import io.mortise.lock.LockAdmin;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A {@link LeaseStore} whose grants can be read and listed, so that its backend can offer a {@link LockAdmin} (S18).
 *
 * <p>{@link LeaseStoreBackend} builds all of the administration on these methods; a forced release is
 * {@link LeaseStore#release} with the attempt id that the operator saw. Such a backend has the capabilities HOLDER_INFO and
 * LIST. The text of a grant is untrusted, and is returned as stored (S19).
 */
public interface ListableLeaseStore extends LeaseStore {
    /** Returns a stage with the grant of the lock; empty if the lock is free or its grant has ended. */
    CompletionStage<Optional<StoredGrant>> find(LockName name);

    /**
     * Returns a stage with the next grants that have not ended, in an order of the names that does not change.
     *
     * @param prefix the start of the names, unescaped; the empty string for all locks
     * @param limit the maximum number of grants; fewer mean that there are no more
     * @param after the name of the last grant of the previous call, unescaped; the empty string for the first call
     */
    CompletionStage<List<StoredGrant>> list(String prefix, int limit, String after);

    /** Returns the risks that the store's settings and state pose; see {@link LockAdmin#diagnose}. Default: none. */
    default CompletionStage<List<LockAdmin.Finding>> diagnose() {
        return CompletableFuture.completedFuture(List.of());
    }

    /**
     * A grant as it is stored.
     *
     * @param name the name of the lock
     * @param ownerRecord the text that {@link LeaseStore#tryAcquire} received
     * @param token the fencing token of the grant
     */
    record StoredGrant(LockName name, String ownerRecord, long token) {}
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockStatus;
import io.mortise.lock.spi.LeaseStore.Grant;
import io.mortise.lock.spi.ListableLeaseStore.StoredGrant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/** Lists, inspects and forcibly releases the locks of a {@link ListableLeaseStore}. A cursor is the last name on its page. */
record LeaseStoreLockAdmin(ListableLeaseStore store, LeaseStoreBackend backend) implements LockAdmin {
    @Override
    public CompletableFuture<LockStatus> status(String name) {
        LockName lock = new LockName(name);
        return backend.send("status of lock \"" + lock + "\"", () -> store.find(lock))
                .thenApply(found -> found.map(LeaseStoreLockAdmin::status)
                        .orElseGet(() -> new LockStatus(name, List.of(), List.of())))
                .toCompletableFuture();
    }

    @Override
    public CompletableFuture<Page> list(String prefix, int limit, String cursor) {
        return backend.send("list of locks", () -> store.list(prefix, limit, cursor))
                .thenApply(found -> new Page(
                        found.stream().map(LeaseStoreLockAdmin::status).toList(),
                        found.size() < limit
                                ? Optional.empty()
                                : Optional.of(found.get(found.size() - 1).name().value())))
                .toCompletableFuture();
    }

    /** Compares the attempt id only, which is new for each grant. A store cannot release a grant without one. */
    @Override
    public CompletableFuture<Boolean> forceRelease(String name, LockHolder seen) {
        LockName lock = new LockName(name);
        String what = "forced release of lock \"" + lock + "\"";
        return seen.owner()
                .map(attempt -> backend.send(what, () -> store.release(new Grant(lock, attempt))))
                .orElseGet(() -> backend.send(what, () -> store.find(lock)).thenApply(found -> {
                    if (found.isPresent() && found.get().ownerRecord().equals(seen.raw())) {
                        throw new BackendRefusedException(
                                what + ": another library or tool recorded this holder, and a store of kind \""
                                        + store.kind() + "\" releases only grants of Mortise: delete its entry at "
                                        + backend.endpoints() + " with the store's own tools");
                    }
                    return false;
                }))
                .toCompletableFuture();
    }

    @Override
    public CompletableFuture<List<Finding>> diagnose() {
        return backend.send("diagnosis", store::diagnose).toCompletableFuture();
    }

    private static LockStatus status(StoredGrant grant) {
        LockHolder holder = OwnerRecordCodec.parse(grant.ownerRecord(), OptionalLong.of(grant.token()));
        return new LockStatus(grant.name().value(), List.of(holder), List.of());
    }
}

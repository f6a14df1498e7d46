// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Administration of the locks of one store: status, listing, forced release and diagnosis.
 *
 * <p>It shows operators who holds a lock (S18). Thread-safe. Every future completes within a few request timeouts. Text that
 * was read from the store is untrusted (S19).
 *
 * <p>An invalid name, prefix or limit throws {@link IllegalArgumentException} at the call. The futures fail with
 * {@link BackendUnavailableException} or {@link BackendRefusedException}.
 */
public interface LockAdmin {
    /** Returns the holders and waiters of one lock; both are empty if no client holds it. */
    CompletableFuture<LockStatus> status(String name);

    /**
     * Returns one page of the locks whose name starts with {@code prefix}, in the order of the store.
     *
     * @param prefix the start of the names, at most 512 bytes of UTF-8; the empty string for all locks
     * @param limit the maximum number of locks on the page, 1 to 10,000
     * @param cursor {@link Page#next()} of the previous page; the empty string for the first page
     */
    CompletableFuture<Page> list(String prefix, int limit, String cursor);

    /**
     * Releases the lock on behalf of its holder, but only if exactly the grant {@code seen} still holds it. The holder loses
     * its lease with {@link LossReason.Kind#REMOVED}. A backend that is built on a {@link io.mortise.lock.spi.LeaseStore} refuses to
     * release a {@linkplain LockHolder#isForeign() foreign} holder.
     *
     * @param seen the holder as {@link #status} or {@link #list} returned it, even if its lease was renewed since
     * @return true if the grant was removed; false if it no longer holds the lock, and nothing was changed
     */
    CompletableFuture<Boolean> forceRelease(String name, LockHolder seen);

    /** Returns the settings and states of the store that put locks at risk; empty if none was found. */
    CompletableFuture<List<Finding>> diagnose();

    /**
     * Returns the wall-clock time of each server, by its address.
     *
     * <p>Each clock is read between the call and the completion of the future, so a caller can compare it with its own clock.
     * Servers that do not respond are missing. The map is empty if the store does not report its time, which is the default. No
     * lock depends on these clocks; fencing tokens may depend on them after a store has lost its data.
     */
    default CompletableFuture<Map<String, Instant>> clocks() {
        return CompletableFuture.completedFuture(Map.of());
    }

    /**
     * One page of a list of locks.
     *
     * @param locks the locks on this page
     * @param next the cursor of the next page; empty on the last page
     */
    record Page(List<LockStatus> locks, Optional<String> next) {
        public Page {
            locks = List.copyOf(locks);
        }
    }

    /**
     * A risk that a diagnosis found in the store or its configuration.
     *
     * @param severity how serious the risk is
     * @param what the description of the risk
     * @param remedy what the operator can do about it
     */
    record Finding(Severity severity, String what, String remedy) {
        /** The severity of a finding. */
        public enum Severity {
            /** A fact that operators should know. */
            INFO,
            /** Locks can be lost if a fault occurs. */
            WARNING,
            /** Locks do not work, or do not guarantee mutual exclusion. */
            ERROR
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Administration of the locks of one store: status, listing, forced release, diagnosis (S18). Thread-safe; every future ends
 * within a few request timeouts. Stored text is untrusted (S19).
 */
public interface LockAdmin {
    /** Holders and waiters of one lock; both empty if nobody holds it. */
    CompletableFuture<LockStatus> status(String name);

    /**
     * Locks whose name begins with {@code prefix}, by pages in the store's order.
     *
     * @param limit at most so many locks, 1 to 10,000
     * @param cursor {@link Page#next()} of the page before; the empty string for the first
     */
    CompletableFuture<Page> list(String prefix, int limit, String cursor);

    /**
     * Takes the lock away from {@code seen}, only if exactly that grant still holds it. Its holder is told REMOVED.
     *
     * @return false if it no longer holds the lock; nothing was touched
     */
    CompletableFuture<Boolean> forceRelease(String name, LockHolder seen);

    /** What in the store's settings endangers locks; empty if nothing was found. */
    CompletableFuture<List<Finding>> diagnose();

    /**
     * What the wall clocks of the servers show, by the servers' addresses: each was read between the call and the end of the
     * future, so that a caller can compare it with its own. Those that do not answer are left out; all are, by default, if the
     * store does not tell. No lock hangs on these clocks being right; fencing tokens may, once a store has lost its data.
     */
    default CompletableFuture<Map<String, Instant>> clocks() {
        return CompletableFuture.completedFuture(Map.of());
    }

    /**
     * One page of a listing.
     *
     * @param next the cursor of the following page; empty at the end
     */
    record Page(List<LockStatus> locks, Optional<String> next) {
        public Page {
            locks = List.copyOf(locks);
        }
    }

    /** One finding: how bad it is, what it is, and what to do about it. */
    record Finding(Severity severity, String what, String remedy) {
        /** How bad it is. */
        public enum Severity {
            /** Worth knowing. */
            INFO,
            /** Locks can be lost under a fault. */
            WARNING,
            /** Locks do not work, or do not exclude. */
            ERROR
        }
    }
}

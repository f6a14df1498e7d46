// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.lease;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.LossReason;
import io.mortise.lock.core.runtime.FailureSafeRunner;
import io.mortise.lock.core.runtime.ThrottledLog;
import io.mortise.lock.spi.LockName;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The leases that one client holds. The client ends them when it closes, and uses them to warn of a process that waits for its
 * own lock. Thread-safe.
 */
public final class HeldLeases {
    private final ThrottledLog warnings;

    @GuardedBy("this")
    private final Set<HeldLease> held = new LinkedHashSet<>();

    /** The latest lease of each lock; all earlier ones have ended. */
    @GuardedBy("this")
    private final Map<LockName, HeldLease> byName = new HashMap<>();

    private final Runnable whenRemoved;
    private volatile boolean closed;

    /** @param whenRemoved runs after each lease that was removed */
    public HeldLeases(ThrottledLog warnings, Runnable whenRemoved) {
        this.warnings = warnings;
        this.whenRemoved = whenRemoved;
    }

    /**
     * Adds a lease, unless it was lost and removed before. Returns false if the client is closing, so that the lease may not be
     * delivered (S16).
     */
    synchronized boolean add(HeldLease lease) {
        if (!lease.hasLeftClient()) {
            held.add(lease);
            byName.put(lease.name(), lease);
        }
        return !closed;
    }

    /** Removes a lease whose removal from the store has begun: a close waits for that (S16). */
    void remove(HeldLease lease) {
        synchronized (this) {
            lease.leaveClient();
            held.remove(lease);
            byName.remove(lease.name(), lease);
        }
        whenRemoved.run();
    }

    /** Returns the number of leases that are held, or whose removal from the store has not begun. */
    public synchronized int size() {
        return held.size();
    }

    /**
     * Logs a warning, once per lease, if this client holds the lock for which one of its operations waits (S4).
     *
     * @param waiter the id of the operation's attempt, whose own lease may just have been granted
     */
    public void warnOfSelfWait(LockName name, String waiter) {
        HeldLease holder = holderOf(name);
        if (holder != null && !holder.hasEnded() && !holder.ownerId().equals(waiter) && holder.warnOnce()) {
            warnings.warn(
                    "self-wait",
                    "SAME_CLIENT",
                    "lock=\"{}\" holder={} waiter={} hint=\"this process waits for a lock that it holds itself\"",
                    name,
                    holder.ownerId(),
                    waiter);
        }
    }

    private synchronized @Nullable HeldLease holderOf(LockName name) {
        return byName.get(name);
    }

    private synchronized List<HeldLease> all() {
        return List.copyOf(held);
    }

    /** Ends all leases with the given reason, and rejects new ones. */
    public void close(LossReason reason) {
        closed = true;
        List<HeldLease> all = all();
        all.forEach(lease -> FailureSafeRunner.run(() -> lease.lost(reason)));
        all.forEach(lease -> FailureSafeRunner.run(() -> lease.afterLoss(reason)));
    }
}

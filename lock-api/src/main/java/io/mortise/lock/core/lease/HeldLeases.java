// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.lease;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.LossReason;
import io.mortise.lock.core.runtime.CloseSteps;
import io.mortise.lock.core.runtime.ThrottledLog;
import io.mortise.lock.spi.LockName;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The leases that this client holds: for {@code close()}, and to warn of a process that waits for itself. */
public final class HeldLeases {
    private final ThrottledLog warnings;

    @GuardedBy("this")
    private final Set<HeldLease> held = new LinkedHashSet<>();

    /** The latest of each lock: any before it have ended. */
    @GuardedBy("this")
    private final Map<LockName, HeldLease> byName = new HashMap<>();

    private volatile boolean closed;

    public HeldLeases(ThrottledLog warnings) {
        this.warnings = warnings;
    }

    /** False: the client closes, nothing is delivered any more (S16). */
    synchronized boolean add(HeldLease lease) {
        held.add(lease);
        byName.put(lease.name(), lease);
        return !closed;
    }

    synchronized void remove(HeldLease lease) {
        held.remove(lease);
        byName.remove(lease.name(), lease);
    }

    /** How many leases are held. */
    public synchronized int size() {
        return held.size();
    }

    public void warnOfSelfWait(LockName name, String waiter) {
        HeldLease holder = holderOf(name);
        if (holder != null && holder.warnOnce()) {
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

    /** Tells all holders, and refuses new ones. */
    public void close(LossReason reason) {
        closed = true;
        List<HeldLease> all = all();
        all.forEach(lease -> CloseSteps.run(() -> lease.lost(reason)));
        all.forEach(lease -> CloseSteps.run(() -> lease.afterLoss(reason)));
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core;

import io.mortise.lock.LossReason;
import io.mortise.lock.spi.LockName;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What this client holds: for close(), and for the warning about a process that waits for itself. */
final class Holders {
    private static final Logger log = LoggerFactory.getLogger(Holders.class);

    private final Set<HeldLease> held = Collections.synchronizedSet(new LinkedHashSet<>());
    private volatile boolean closed;

    /** False: the client closes, nothing is delivered any more (S16). */
    boolean add(HeldLease lease) {
        held.add(lease);
        return !closed;
    }

    void remove(HeldLease lease) {
        held.remove(lease);
    }

    /** How many leases are held. */
    int size() {
        return held.size();
    }

    void warnOfSelfWait(LockName name, String waiter) {
        for (HeldLease holder : List.copyOf(held)) {
            if (holder.lockName().equals(name.value()) && holder.warnOnce()) {
                log.warn(
                        "event=self-wait lock=\"{}\" holder={} waiter={} hint=\"this process waits for a lock that it holds itself\"",
                        name.escaped(),
                        holder.ownerId(),
                        waiter);
            }
        }
    }

    /** Tells all holders, and refuses new ones. */
    void close(LossReason reason) {
        closed = true;
        List.copyOf(held).forEach(lease -> CoreClient.quietly(() -> lease.lost(reason)));
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core;

import io.mortise.lock.LossReason;
import io.mortise.lock.spi.LockName;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What this client holds, by name: for close(), and for the warning about a process that waits for itself. */
final class Holders {
    private static final Logger log = LoggerFactory.getLogger(Holders.class);

    private final ConcurrentMap<LockName, HeldLease> held = new ConcurrentHashMap<>();
    private volatile boolean closed;

    /** False: the client closes, nothing is delivered any more (S16). */
    boolean add(LockName name, HeldLease lease) {
        held.put(name, lease);
        return !closed;
    }

    void remove(LockName name, HeldLease lease) {
        held.remove(name, lease);
    }

    void warnOfSelfWait(LockName name, String waiter) {
        HeldLease holder = held.get(name);
        if (holder != null && holder.warnOnce()) {
            log.warn(
                    "event=self-wait lock=\"{}\" holder={} waiter={} hint=\"this process waits for a lock that it holds itself\"",
                    name,
                    holder.ownerId(),
                    waiter);
        }
    }

    /** Tells all holders, and refuses new ones. */
    void close(LossReason reason) {
        closed = true;
        List.copyOf(held.values()).forEach(lease -> lease.lost(reason));
    }
}

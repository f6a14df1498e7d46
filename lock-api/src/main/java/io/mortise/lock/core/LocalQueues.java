// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.spi.LockName;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * First in, first out among the waiters of one process, where the store keeps no queue of its own: one contender per lock
 * goes to the store, not one per thread.
 */
final class LocalQueues {
    @GuardedBy("this")
    private final Map<LockName, LinkedHashSet<Acquisition>> queues = new HashMap<>();

    /** Stands in line. Whether it is the first, so that its turn is now. */
    synchronized boolean join(LockName name, Acquisition waiter) {
        LinkedHashSet<Acquisition> queue = queues.computeIfAbsent(name, n -> new LinkedHashSet<>());
        queue.add(waiter);
        return queue.size() == 1;
    }

    /** Leaves the line, from wherever it stands. The one whose turn came with that, if any: the caller begins it. */
    synchronized @Nullable Acquisition leave(LockName name, Acquisition waiter) {
        LinkedHashSet<Acquisition> queue = queues.get(name);
        if (queue == null) {
            return null;
        }
        boolean wasFirst = queue.iterator().next() == waiter;
        if (!queue.remove(waiter)) {
            return null;
        }
        if (queue.isEmpty()) {
            queues.remove(name);
            return null;
        }
        return wasFirst ? queue.iterator().next() : null;
    }

    /** A lease of this process ended: the first in line need not wait for a hint from the store. */
    void wakeFirst(LockName name) {
        Acquisition first = first(name);
        if (first != null) {
            Relay.run(first::hint);
        }
    }

    /** How many lines there are: none when nobody waits (S17). */
    synchronized int size() {
        return queues.size();
    }

    private synchronized @Nullable Acquisition first(LockName name) {
        LinkedHashSet<Acquisition> queue = queues.get(name);
        return queue == null ? null : queue.iterator().next();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.acquire;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.support.Trampoline;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * First-in-first-out queues inside one process, for stores without a queue of their own: one contender per lock asks the
 * store.
 */
public final class LocalQueues {
    @GuardedBy("this")
    private final Map<LockName, LocalQueue> queues = new HashMap<>();

    private static final class LocalQueue {
        private final LinkedHashSet<AcquireOperation> waiters = new LinkedHashSet<>();
        private boolean taken;
    }

    /** Joins the queue. True if it is the first, and may ask now. */
    synchronized boolean join(LockName name, AcquireOperation waiter) {
        LocalQueue queue = queues.computeIfAbsent(name, n -> new LocalQueue());
        queue.waiters.add(waiter);
        return queue.waiters.size() == 1;
    }

    /**
     * Records what the first in the queue was answered. An answer to one that has left the queue is ignored.
     *
     * @param taken the answer was that somebody has the lock, be it the asker now; false: there was none
     */
    synchronized void heard(LockName name, AcquireOperation by, boolean taken) {
        LocalQueue queue = queues.get(name);
        if (queue != null && queue.waiters.contains(by)) {
            queue.taken = taken;
        }
    }

    /** Whether somebody had the lock by the latest answer to this queue (S15): those behind the first do not ask. */
    synchronized boolean taken(LockName name) {
        LocalQueue queue = queues.get(name);
        return queue != null && queue.taken;
    }

    /** Leaves the queue. Returns the new first one, if that changed: the caller starts it. */
    synchronized @Nullable AcquireOperation leave(LockName name, AcquireOperation waiter) {
        LocalQueue queue = queues.get(name);
        if (queue == null) {
            return null;
        }
        boolean wasFirst = first(name) == waiter;
        if (!queue.waiters.remove(waiter)) {
            return null;
        }
        if (queue.waiters.isEmpty()) {
            queues.remove(name);
            return null;
        }
        return wasFirst ? first(name) : null;
    }

    /** A lease of this process ended: the first in the queue need not wait for a hint from the store. */
    public void wakeFirst(LockName name) {
        AcquireOperation first = first(name);
        if (first != null) {
            Trampoline.run(first::hint);
        }
    }

    /** Number of queues: none when nobody waits (S17). */
    public synchronized int size() {
        return queues.size();
    }

    private synchronized @Nullable AcquireOperation first(LockName name) {
        LocalQueue queue = queues.get(name);
        return queue == null ? null : queue.waiters.iterator().next();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.acquire;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.core.runtime.StoreContact;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.Trampoline;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * First-in-first-out queues inside one process, one per lock, for stores that have no queue. Only the first operation in a
 * queue sends requests to the store. Thread-safe.
 */
public final class LocalQueues {
    @GuardedBy("this")
    private final Map<LockName, LocalQueue> queues = new HashMap<>();

    /** The queue of one lock, which exists only while it has waiters. */
    private static final class LocalQueue {
        private final LinkedHashSet<AcquireOperation> waiters = new LinkedHashSet<>();
        private boolean lastResultBusy;
        private @Nullable MonotonicInstant failingSince; // when the first request without a response was sent
    }

    /** Adds the operation to the queue. Returns whether it is the first one, which may make an attempt now. */
    synchronized boolean join(LockName name, AcquireOperation waiter) {
        LocalQueue queue = queues.computeIfAbsent(name, n -> new LocalQueue());
        queue.waiters.add(waiter);
        return queue.waiters.size() == 1;
    }

    /**
     * Records the result of an attempt of the first operation in the queue. A result for an operation that has left the queue
     * is ignored.
     *
     * @param busy whether the result shows that the lock is held, even if by this operation now; false if there was no response
     */
    synchronized void recordResult(LockName name, AcquireOperation by, boolean busy) {
        LocalQueue queue = queues.get(name);
        if (queue != null && queue.waiters.contains(by)) {
            queue.lastResultBusy = busy;
            queue.failingSince = busy ? null : queue.failingSince;
        }
    }

    /**
     * Records that a request of the first operation in the queue had no response. It is ignored for an operation that has left the
     * queue.
     */
    synchronized void recordFailure(LockName name, AcquireOperation by, MonotonicInstant sent) {
        LocalQueue queue = queues.get(name);
        if (queue != null && queue.waiters.contains(by) && queue.failingSince == null) {
            queue.failingSince = sent;
        }
    }

    /**
     * Returns the contact with the store as the queue knows it: its own requests may have had no response for longer than those of
     * the client, of which others may have had one.
     */
    synchronized StoreContact contact(LockName name, StoreContact ofClient) {
        LocalQueue queue = queues.get(name);
        return queue == null || queue.failingSince == null ? ofClient : ofClient.failingSince(queue.failingSince);
    }

    /**
     * Returns whether the lock was held according to the latest result in this queue (S15). The operations behind the first one
     * rely on it, since they send no requests.
     */
    synchronized boolean lastResultBusy(LockName name) {
        LocalQueue queue = queues.get(name);
        return queue != null && queue.lastResultBusy;
    }

    /** Returns the operations behind that one, if it is the first in its queue. */
    synchronized List<AcquireOperation> behind(LockName name, AcquireOperation first) {
        LocalQueue queue = queues.get(name);
        return queue == null || first(name) != first
                ? List.of()
                : queue.waiters.stream().skip(1).toList();
    }

    /** Removes the operation from its queue. Returns the new first operation, which the caller starts; null if unchanged. */
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

    /** Wakes the first operation in the queue, because a lease of this process has ended and the store sends no hint. */
    public void wakeFirst(LockName name) {
        AcquireOperation first = first(name);
        if (first != null) {
            Trampoline.run(first::lockFreed);
        }
    }

    /** Returns the number of queues, which is zero if there are no waiters (S17). */
    public synchronized int size() {
        return queues.size();
    }

    private synchronized @Nullable AcquireOperation first(LockName name) {
        LocalQueue queue = queues.get(name);
        return queue == null ? null : queue.waiters.iterator().next();
    }
}

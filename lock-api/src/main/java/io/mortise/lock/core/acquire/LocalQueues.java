// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.acquire;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.core.runtime.Trampoline;
import io.mortise.lock.spi.LockName;
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
    private final Map<LockName, Line> lines = new HashMap<>();

    private static final class Line {
        private final LinkedHashSet<AcquireOperation> waiters = new LinkedHashSet<>();
        private boolean taken;
    }

    /** Stands in the queue. Whether it is the first, so that its turn is now. */
    synchronized boolean join(LockName name, AcquireOperation waiter) {
        Line line = lines.computeIfAbsent(name, n -> new Line());
        line.waiters.add(waiter);
        return line.waiters.size() == 1;
    }

    /**
     * The first in the queue has asked. What one hears that has left it since is not news to the line of now.
     *
     * @param taken the answer was that somebody has the lock, be it the asker now; false: there was none
     */
    synchronized void heard(LockName name, AcquireOperation by, boolean taken) {
        Line line = lines.get(name);
        if (line != null && line.waiters.contains(by)) {
            line.taken = taken;
        }
    }

    /** Whether somebody had the lock by the latest answer to this line (S15): those behind the first do not ask themselves. */
    synchronized boolean taken(LockName name) {
        Line line = lines.get(name);
        return line != null && line.taken;
    }

    /** Leaves the line, from wherever it stands. The one whose turn came with that, if any: the caller begins it. */
    synchronized @Nullable AcquireOperation leave(LockName name, AcquireOperation waiter) {
        Line line = lines.get(name);
        if (line == null) {
            return null;
        }
        boolean wasFirst = first(name) == waiter;
        if (!line.waiters.remove(waiter)) {
            return null;
        }
        if (line.waiters.isEmpty()) {
            lines.remove(name);
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

    /** How many lines there are: none when nobody waits (S17). */
    public synchronized int size() {
        return lines.size();
    }

    private synchronized @Nullable AcquireOperation first(LockName name) {
        Line line = lines.get(name);
        return line == null ? null : line.waiters.iterator().next();
    }
}

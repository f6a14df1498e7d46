// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.spi.MonotonicInstant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * Remembers the latest removals that a server has executed, because a failover may lose them: the new master then still has the
 * grants. Only a fixed number is remembered (S17). Thread-safe.
 */
final class RecentRemovals {
    private static final int MOST = 2048;

    @GuardedBy("this")
    private final Deque<Removal> latest = new ArrayDeque<>();

    /**
     * A removal of an attempt that has ended.
     *
     * @param epoch the epoch of the connection on which the server replied
     * @param until when the grant ends without a removal
     */
    record Removal(RedisKeyLayout.OfLock keys, String attemptId, int epoch, MonotonicInstant until) {
        /** Returns this removal as executed again on the connection of another epoch. */
        Removal at(int otherEpoch) {
            return new Removal(keys, attemptId, otherEpoch, until);
        }
    }

    /** Adds a removal; the oldest one is forgotten if there are too many. */
    synchronized void add(Removal removal) {
        if (latest.size() == MOST) {
            latest.removeFirst();
        }
        latest.addLast(removal);
    }

    /** Returns the removals whose grants may not have ended yet. */
    synchronized List<Removal> all(MonotonicInstant now) {
        latest.removeIf(removal -> !now.isBefore(removal.until));
        return List.copyOf(latest);
    }

    /** Forgets a removal; returns false if that was done already. */
    synchronized boolean forget(Removal removal) {
        return latest.remove(removal);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.spi.MonotonicInstant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Remembers the latest removals that a server has executed, because a failover may lose them: the new master then still has the
 * grants. Only a fixed number is remembered (S17). Thread-safe.
 */
final class RecentRemovals {
    static final int MOST = 2048;

    @GuardedBy("this")
    private final Map<String, Removal> latest = new LinkedHashMap<>(); // by attempt id

    /**
     * A removal of an attempt that has ended.
     *
     * @param epoch the epoch of the connection on which the server replied, which differs for each connection to any server
     * @param until when the grant ends without a removal
     */
    record Removal(RedisKeyLayout.OfLock keys, String attemptId, int epoch, MonotonicInstant until) {
        /** Returns this removal as executed again on the connection of another epoch. */
        Removal at(int otherEpoch) {
            return new Removal(keys, attemptId, otherEpoch, until);
        }
    }

    /** Adds a removal, which replaces an earlier one of the same attempt; the oldest one is forgotten if there are too many. */
    synchronized void add(Removal removal) {
        latest.remove(removal.attemptId);
        if (latest.size() == MOST) {
            latest.remove(latest.keySet().iterator().next());
        }
        latest.put(removal.attemptId, removal);
    }

    /** Returns the removals whose grants may not have ended yet. */
    synchronized List<Removal> all(MonotonicInstant now) {
        latest.values().removeIf(removal -> !now.isBefore(removal.until));
        return List.copyOf(latest.values());
    }

    /** Forgets a removal; returns false if that was done already, or a later one has replaced it. */
    synchronized boolean forget(Removal removal) {
        return latest.remove(removal.attemptId, removal);
    }
}

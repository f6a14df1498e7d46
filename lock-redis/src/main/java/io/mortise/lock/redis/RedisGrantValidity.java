// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The validity of one grant in Redis, extended by each renewal of the grant's key. */
final class RedisGrantValidity extends GrantValidity {
    private static final int RENEWALS_PER_LEASE = 3;

    private final RedisKeyLayout.OfLock keys;
    private final String attemptId;
    private final Duration lease;
    private volatile @Nullable RedisNodeClient renewedAt; // null before the first renewal

    RedisGrantValidity(
            LockClock clock,
            RedisKeyLayout.OfLock keys,
            String attemptId,
            Duration lease,
            MonotonicInstant validUntil) {
        super(clock, Durations.divide(lease, RENEWALS_PER_LEASE), validUntil);
        this.keys = keys;
        this.attemptId = attemptId;
        this.lease = lease;
    }

    /** Records the server to which the latest renewal is sent. */
    void renewedAt(RedisNodeClient node) {
        renewedAt = node;
    }

    /** Returns whether the latest renewal was sent to a server that no longer has the lock. */
    boolean isMisplaced(RedisConnectionRouter connections) {
        return connections.nodeOf(keys) != renewedAt;
    }

    RedisKeyLayout.OfLock keys() {
        return keys;
    }

    String attemptId() {
        return attemptId;
    }

    Duration lease() {
        return lease;
    }
}

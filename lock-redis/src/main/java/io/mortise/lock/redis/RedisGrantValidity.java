// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicTime;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Validity of one grant: its key in Redis. */
final class RedisGrantValidity extends GrantValidity {
    private static final int RENEWALS_PER_LEASE = 3;

    private final RedisKeyLayout.OfLock keys;
    private final String attemptId;
    private final Duration lease;
    private volatile @Nullable RedisNodeClient renewedAt; // none yet

    RedisGrantValidity(
            LockClock clock, RedisKeyLayout.OfLock keys, String attemptId, Duration lease, MonotonicTime validUntil) {
        super(clock, Durations.divide(lease, RENEWALS_PER_LEASE), validUntil);
        this.keys = keys;
        this.attemptId = attemptId;
        this.lease = lease;
    }

    /** It is asked there. */
    void renewedAt(RedisNodeClient node) {
        renewedAt = node;
    }

    /** Whether it was renewed last at a server that does not have its lock any more. */
    boolean isMisplaced(RedisConnections link) {
        return link.nodeOf(keys) != renewedAt;
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

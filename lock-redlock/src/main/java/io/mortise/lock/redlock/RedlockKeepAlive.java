// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.mortise.lock.spi.KeepAlive;
import io.mortise.lock.spi.LockClock;
import java.time.Duration;

/** What one grant's deadline hangs on: its keys on a majority. */
final class RedlockKeepAlive extends KeepAlive {
    private static final int RENEWALS_PER_LEASE = 3;

    private final RedlockKeys.OfLock keys;
    private final String attemptId;
    private final Duration lease;
    private final Regain regain;

    RedlockKeepAlive(
            LockClock clock,
            RedlockKeys.OfLock keys,
            String attemptId,
            Duration lease,
            long validUntil,
            Regain regain) {
        super(clock, Duration.ofNanos(lease.toNanos() / RENEWALS_PER_LEASE), validUntil); // dividedBy is slow
        this.keys = keys;
        this.attemptId = attemptId;
        this.lease = lease;
        this.regain = regain;
    }

    RedlockKeys.OfLock keys() {
        return keys;
    }

    String attemptId() {
        return attemptId;
    }

    Duration lease() {
        return lease;
    }

    /** For votes that are lost while a majority stands. */
    Regain regain() {
        return regain;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.redlock.storage.RedlockKeys;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;

/** Tracks until when one grant is valid, based on its keys at a majority of masters. */
final class RedlockGrantValidity extends GrantValidity {
    private static final int RENEWALS_PER_LEASE = 3;

    private final RedlockKeys.LockKeys keys;
    private final String attemptId;
    private final int round;
    private final Duration leaseDuration;
    private final RedlockContender contender;

    RedlockGrantValidity(
            LockClock clock,
            RedlockKeys.LockKeys keys,
            String attemptId,
            int round,
            Duration leaseDuration,
            MonotonicInstant validUntil,
            RedlockContender contender) {
        super(clock, Durations.divide(leaseDuration, RENEWALS_PER_LEASE), validUntil);
        this.keys = keys;
        this.attemptId = attemptId;
        this.round = round;
        this.leaseDuration = leaseDuration;
        this.contender = contender;
    }

    RedlockKeys.LockKeys keys() {
        return keys;
    }

    String attemptId() {
        return attemptId;
    }

    /** Returns the number of the round that won the grant. */
    int round() {
        return round;
    }

    Duration leaseDuration() {
        return leaseDuration;
    }

    /** Returns the contender that has the grant, and requests votes again that the grant has lost. */
    RedlockContender contender() {
        return contender;
    }
}

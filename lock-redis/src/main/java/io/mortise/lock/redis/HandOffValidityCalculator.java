// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.redis.node.ServerClock;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.Optional;

/**
 * Computes until when, by the local clock, a grant that was handed off to a waiter is certainly valid, from two timestamps of
 * the server: those of its last "busy" reply to the waiter and of the hand-off. See ADR 0017. Pure arithmetic.
 */
final class HandOffValidityCalculator {
    private HandOffValidityCalculator() {}

    /**
     * Returns the deadline; empty if less than half of the lease is left, or if the server's clock was set forward between the
     * reply and the message.
     *
     * @param busy the reply, which came on the same connection before the message
     */
    static Optional<MonotonicInstant> validUntil(
            RedisContenderState.Queued busy,
            RedisContenderEvent.HandedOff message,
            Duration lease,
            MonotonicInstant now) {
        MonotonicInstant handedOff = ServerClock.noLaterThan(busy.sent(), busy.time(), message.time());
        boolean clockWasSet = handedOff.isAfter(message.arrived());
        return Optional.of(LockClock.deadline(handedOff, lease))
                .filter(validUntil -> !clockWasSet && isLongEnough(validUntil, lease, now));
    }

    /** Returns whether half of the lease is left, so that a renewal is not urgent. */
    static boolean isLongEnough(MonotonicInstant validUntil, Duration lease, MonotonicInstant now) {
        return !validUntil.isBefore(now.plus(Durations.divide(lease, 2)));
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.redis.RedisContenderEvent.HandedOff;
import io.mortise.lock.redis.RedisContenderState.Queued;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.OptionalLong;

/**
 * The deadlines of leases in a {@link RedisWorld}, computed by the code of production. All times are in µs of the model's only clock,
 * also those in a {@link MonotonicInstant}: the key of a world recognizes them as times.
 */
final class RedisLeaseTimes {
    /** No key and no queue entry expires by itself where time is no clock. */
    static final Duration LEASE = Duration.ofMinutes(500);

    private RedisLeaseTimes() {}

    /** Returns until when a grant is valid whose request was sent then. */
    static long granted(long sent) {
        return micros(LockClock.deadline(instant(sent), LEASE));
    }

    /** Returns until when a grant is valid that was handed off; empty if that is not certain, or too soon. */
    static OptionalLong handedOff(Queued queued, HandedOff message, long now) {
        return HandOffValidityCalculator.validUntil(
                        new Queued(queued.epoch(), instant(queued.sent().nanos()), queued.time(), null),
                        new HandedOff(
                                message.epoch(),
                                message.token(),
                                message.time(),
                                instant(message.arrived().nanos())),
                        LEASE,
                        instant(now))
                .map(until -> OptionalLong.of(micros(until)))
                .orElse(OptionalLong.empty());
    }

    /**
     * Returns until when a grant is valid after a renewal has found it.
     *
     * @param before until when it was valid
     * @param sent when the renewal was sent
     */
    static long renewed(long before, long sent, long now) {
        RedisGrantValidity validity = new RedisGrantValidity(
                new FixedClock(instant(now)), RedisGrantHistory.KEYS, "", LEASE, instant(before));
        validity.extend(instant(granted(sent)));
        return micros(validity.validUntil());
    }

    private static MonotonicInstant instant(long micros) {
        return new MonotonicInstant(micros * 1_000);
    }

    private static long micros(MonotonicInstant instant) {
        return instant.nanos() / 1_000;
    }

    private record FixedClock(MonotonicInstant now) implements LockClock {
        @Override
        public Timer schedule(Duration delay, Runnable task) {
            throw new IllegalStateException("a validity has no timer");
        }
    }
}

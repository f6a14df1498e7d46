// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.redis.node.ServerClock;
import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Tests until when a handed-off grant is valid. {@link RedisContenderStateTest} tests which messages count. */
class HandOffValidityCalculatorTest {
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final long SECOND = 1_000_000_000;

    /** The server's time when the local clock showed zero. */
    private static final ServerTime SERVER_START = new ServerTime(1_700_000_000_000_000L);

    private static ServerTime serverTime(long atNanos) {
        return SERVER_START.plus(Duration.ofNanos(atNanos));
    }

    /** A "busy" reply that the server sent at once, and a later hand-off. */
    private static Optional<MonotonicInstant> validUntil(long busy, long handedOff, long arrived, long now) {
        return HandOffValidityCalculator.validUntil(
                new RedisContenderState.Queued(1, new MonotonicInstant(busy), serverTime(busy), null),
                new RedisContenderEvent.HandedOff(1, 7, serverTime(handedOff), new MonotonicInstant(arrived)),
                LEASE,
                new MonotonicInstant(now));
    }

    @Test
    void S02_aGrantCountsFromTheHandOff() {
        MonotonicInstant grantedAt =
                ServerClock.noLaterThan(new MonotonicInstant(0), serverTime(0), serverTime(2 * SECOND));
        assertThat(grantedAt.nanos()).isLessThanOrEqualTo(2 * SECOND);
        assertThat(validUntil(0, 2 * SECOND, 3 * SECOND, 3 * SECOND)).contains(LockClock.deadline(grantedAt, LEASE));
    }

    @Test
    void S02_afterHalfALeaseAMessageGrantsNothing() {
        assertThat(validUntil(0, SECOND, 2 * SECOND, 15 * SECOND)).isPresent();
        assertThat(validUntil(0, SECOND, 2 * SECOND, 16 * SECOND)).isEmpty();
    }

    @Test
    void S02_aMessageGrantsNothingIfTheServersClockWasSetForward() {
        assertThat(validUntil(0, 60 * SECOND, 2 * SECOND, 2 * SECOND)).isEmpty();
    }

    /** The server's clock runs at most 1 % too fast or too slow, and requests and messages take any time. */
    @Test
    void S02_theDeadlineIsNeverAfterTheGrantHasExpiredOnTheServer() {
        Random random = new Random(1);
        int usable = 0;
        for (int i = 0; i < 100_000; i++) {
            double rate = 0.99 + random.nextDouble() * 0.02;
            long executed = random.nextLong(2 * SECOND);
            long handedOff = executed + random.nextLong(20 * SECOND);
            long arrived = handedOff + random.nextLong(2 * SECOND);
            Optional<MonotonicInstant> validUntil = HandOffValidityCalculator.validUntil(
                    new RedisContenderState.Queued(
                            1, new MonotonicInstant(0), serverTime((long) (executed * rate)), null),
                    new RedisContenderEvent.HandedOff(
                            1, 7, serverTime((long) (handedOff * rate)), new MonotonicInstant(arrived)),
                    LEASE,
                    new MonotonicInstant(arrived));
            long expires = handedOff + (long) (LEASE.toNanos() / rate); // on the local clock
            validUntil.ifPresent(
                    deadline -> assertThat(deadline.nanos()).as("rate %s", rate).isLessThanOrEqualTo(expires));
            usable += validUntil.isPresent() ? 1 : 0;
        }
        assertThat(usable).as("most messages can be used").isGreaterThan(90_000);
    }
}

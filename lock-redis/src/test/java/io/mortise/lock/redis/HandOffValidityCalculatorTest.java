// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.redis.node.NodeListener;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redis.node.ServerClock;
import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.testing.ManualClock;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * Tests when a hand-off message grants the lock, and until when. The messages have valid signatures, since any subscriber can
 * publish them again.
 */
class HandOffValidityCalculatorTest {
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final long SECOND = 1_000_000_000;

    /** The server's time when the local clock showed zero. */
    private static final ServerTime SERVER_START = new ServerTime(1_700_000_000_000_000L);

    private final BackendContext context = (BackendContext) Proxy.newProxyInstance(
            HandOffValidityCalculatorTest.class.getClassLoader(),
            new Class<?>[] {BackendContext.class},
            (proxy, method, arguments) -> switch (method.getName()) {
                case "clock" -> new ManualClock();
                default -> throw new UnsupportedOperationException(method.getName());
            });
    private final RedisNodeClient node = new RedisNodeClient(
            new RedisNodeClient.Target(
                    "",
                    "test",
                    () -> CompletableFuture.failedFuture(new IllegalStateException("not to be opened")),
                    false),
            context,
            Duration.ofSeconds(5),
            0,
            new NodeListener() {
                @Override
                public void onMessage(RedisNodeClient from, String text) {}

                @Override
                public void onSubscribed(RedisNodeClient at) {}
            });
    private final HandOffValidityCalculator calculator = new HandOffValidityCalculator();

    private static ServerTime serverTime(long atNanos) {
        return SERVER_START.plus(Duration.ofNanos(atNanos));
    }

    /** Receives a "busy" reply to a request of this time, to which the server replied at once, on a connection. */
    private void busy(int epoch, long atNanos) {
        calculator.onBusy(epoch, new MonotonicInstant(atNanos), serverTime(atNanos));
    }

    /** Receives the message of a grant that the server handed off at this time. */
    private void handOff(int epoch, long grantedNanos, long arrivedNanos) {
        calculator.onHandOff(
                new GrantMessage.Granted("a", 7, serverTime(grantedNanos), "lock:x", "", ""),
                epoch,
                new MonotonicInstant(arrivedNanos));
    }

    private Optional<HandOffValidityCalculator.Grant> collect(long nowNanos) {
        return calculator.collect(node, LEASE, new MonotonicInstant(nowNanos));
    }

    @Test
    void S02_aGrantCountsFromTheHandOffAndOnlyOnce() {
        busy(node.epoch(), 0);
        handOff(node.epoch(), 2 * SECOND, 3 * SECOND);
        MonotonicInstant grantedAt =
                ServerClock.noLaterThan(new MonotonicInstant(0), serverTime(0), serverTime(2 * SECOND));
        assertThat(grantedAt.nanos()).isLessThanOrEqualTo(2 * SECOND);
        assertThat(collect(3 * SECOND))
                .contains(new HandOffValidityCalculator.Grant(7, LockClock.deadline(grantedAt, LEASE)));
        assertThat(collect(3 * SECOND)).isEmpty();
    }

    /** The grant may have ended: a forced release came in between, and the waiter got the reply "busy" again. */
    @Test
    void S01_S19_aMessageOlderThanTheBusyReplyGrantsNothing() {
        busy(node.epoch(), 5 * SECOND);
        handOff(node.epoch(), 4 * SECOND, 6 * SECOND);
        assertThat(collect(6 * SECOND)).isEmpty();
    }

    @Test
    void S01_aMessageThatArrivedBeforeTheBusyReplyGrantsNothing() {
        busy(node.epoch(), 0);
        handOff(node.epoch(), SECOND, 2 * SECOND);
        busy(node.epoch(), 3 * SECOND);
        assertThat(collect(3 * SECOND)).isEmpty();
    }

    @Test
    void S02_aMessageOnAnotherConnectionThanTheReplyGrantsNothing() {
        busy(node.epoch() - 1, 0);
        handOff(node.epoch(), SECOND, 2 * SECOND);
        assertThat(collect(2 * SECOND)).isEmpty();
        busy(node.epoch() - 1, 0);
        handOff(node.epoch() - 1, SECOND, 2 * SECOND);
        assertThat(collect(2 * SECOND)).as("both came on a lost connection").isEmpty();
    }

    @Test
    void S02_afterHalfALeaseAMessageGrantsNothing() {
        busy(node.epoch(), 0);
        handOff(node.epoch(), SECOND, 20 * SECOND);
        assertThat(collect(20 * SECOND)).isEmpty();
    }

    @Test
    void S02_aMessageGrantsNothingIfTheServersClockWasSetForward() {
        busy(node.epoch(), 0);
        handOff(node.epoch(), 60 * SECOND, 2 * SECOND);
        assertThat(collect(2 * SECOND)).isEmpty();
    }
}

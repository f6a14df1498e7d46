// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.redis.node.NodeListener;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redis.node.ServerClock;
import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicTime;
import io.mortise.lock.spi.testing.ManualClock;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** When a message makes a holder, and until when. Its signature is right: whoever listens can publish it once more. */
class HandOffDeadlineCalculatorTest {
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final long SECOND = 1_000_000_000;

    /** What the server's clock showed when ours was zero. */
    private static final ServerTime SERVER_START = new ServerTime(1_700_000_000_000_000L);

    private final BackendContext context = (BackendContext) Proxy.newProxyInstance(
            HandOffDeadlineCalculatorTest.class.getClassLoader(),
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
                public void message(RedisNodeClient from, String text) {}

                @Override
                public void listening(RedisNodeClient at) {}
            });
    private final HandOffDeadlineCalculator handedOff = new HandOffDeadlineCalculator();

    private static ServerTime serverTime(long atNanos) {
        return SERVER_START.plus(Duration.ofNanos(atNanos));
    }

    /** "Busy" was asked then and answered at once, on a connection. */
    private void confirmed(int epoch, long atNanos) {
        handedOff.confirmed(epoch, new MonotonicTime(atNanos), serverTime(atNanos));
    }

    /** A message arrives of a grant that the server made then. */
    private void told(int epoch, long grantedNanos, long arrivedNanos) {
        handedOff.told(
                new GrantMessage.Granted("a", 7, serverTime(grantedNanos), "lock:x", "", ""),
                epoch,
                new MonotonicTime(arrivedNanos));
    }

    private Optional<HandOffDeadlineCalculator.Grant> collect(long nowNanos) {
        return handedOff.collect(node, LEASE, new MonotonicTime(nowNanos));
    }

    @Test
    void S02_aGrantCountsFromWhenTheServerMadeItAndOnce() {
        confirmed(node.epoch(), 0);
        told(node.epoch(), 2 * SECOND, 3 * SECOND);
        MonotonicTime made = ServerClock.noLaterThan(new MonotonicTime(0), serverTime(0), serverTime(2 * SECOND));
        assertThat(made.nanos()).isLessThanOrEqualTo(2 * SECOND);
        assertThat(collect(3 * SECOND))
                .contains(new HandOffDeadlineCalculator.Grant(7, LockClock.deadline(made, LEASE)));
        assertThat(collect(3 * SECOND)).isEmpty();
    }

    /** It may be over: its lease was taken away meanwhile, and the waiter was told to wait once more. */
    @Test
    void S01_S19_aMessageThatIsOlderThanTheAnswerBusyMakesNoHolder() {
        confirmed(node.epoch(), 5 * SECOND);
        told(node.epoch(), 4 * SECOND, 6 * SECOND);
        assertThat(collect(6 * SECOND)).isEmpty();
    }

    @Test
    void S01_aMessageThatCameBeforeTheAnswerBusyMakesNoHolder() {
        confirmed(node.epoch(), 0);
        told(node.epoch(), SECOND, 2 * SECOND);
        confirmed(node.epoch(), 3 * SECOND);
        assertThat(collect(3 * SECOND)).isEmpty();
    }

    @Test
    void S02_aMessageOverAnotherConnectionThanTheAnswerMakesNoHolder() {
        confirmed(node.epoch() - 1, 0);
        told(node.epoch(), SECOND, 2 * SECOND);
        assertThat(collect(2 * SECOND)).isEmpty();
        confirmed(node.epoch() - 1, 0);
        told(node.epoch() - 1, SECOND, 2 * SECOND);
        assertThat(collect(2 * SECOND)).as("both came over one that is no more").isEmpty();
    }

    @Test
    void S02_halfALeaseLaterItIsAskedFor() {
        confirmed(node.epoch(), 0);
        told(node.epoch(), SECOND, 20 * SECOND);
        assertThat(collect(20 * SECOND)).isEmpty();
    }

    @Test
    void S02_aServerWhoseClockWasSetForwardMeanwhileIsAsked() {
        confirmed(node.epoch(), 0);
        told(node.epoch(), 60 * SECOND, 2 * SECOND);
        assertThat(collect(2 * SECOND)).isEmpty();
    }
}

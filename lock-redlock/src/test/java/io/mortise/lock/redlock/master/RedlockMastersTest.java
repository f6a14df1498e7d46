// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.mortise.lock.redis.node.BackgroundConnect;
import io.mortise.lock.redis.node.NodeListener;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.redlock.vote.Quorum;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.testing.ManualClock;
import io.mortise.lock.testkit.process.Await;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Tests that one server under two addresses has one vote. Its connections are not real. */
class RedlockMastersTest {
    private static final Set<Thread.State> ENDED_OR_WAITING = Set.of(Thread.State.TERMINATED, Thread.State.BLOCKED);

    private final LockClock clock = new ManualClock();
    private final BackgroundConnect connector = connector();
    private final AtomicReference<Runnable> meanwhile = new AtomicReference<>(() -> {});

    /** A clock that a master reads while it records a handshake. */
    private final class InterruptingClock implements LockClock {
        @Override
        public MonotonicInstant now() {
            meanwhile.getAndSet(() -> {}).run();
            return clock.now();
        }

        @Override
        public Timer schedule(Duration delay, Runnable task) {
            return clock.schedule(delay, task);
        }
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    @SuppressWarnings("unchecked")
    private BackgroundConnect connector() {
        StatefulRedisPubSubConnection<String, String> connection =
                proxy(StatefulRedisPubSubConnection.class, (proxy, method, arguments) -> null);
        BackendContext context = proxy(BackendContext.class, (proxy, method, arguments) -> switch (method.getName()) {
            case "clock" -> clock;
            case "blocking" -> (Executor) Runnable::run;
            case "withRequestTimeout" -> new CompletableFuture<>();
            default -> throw new UnsupportedOperationException(method.getName());
        });
        RedisNodeClient.Target target =
                new RedisNodeClient.Target("", "redis://a", () -> CompletableFuture.completedFuture(connection), false);
        return new BackgroundConnect(
                target,
                "channel",
                context,
                Duration.ofSeconds(1),
                Optional.empty(),
                proxy(NodeListener.class, (proxy, method, arguments) -> null));
    }

    private RedlockMaster master(int index) {
        return new RedlockMaster(index, connector, new InterruptingClock());
    }

    @Test
    void S01_ofTwoHandshakesWithOneServerThatEndTogetherOneCounts() throws Exception {
        connector.start();
        RedlockMasters masters = new RedlockMasters(new Quorum(3), clock);
        RedlockMaster one = master(0);
        RedlockMaster same = master(1);
        masters.set(List.of(one, same));
        RedisNodeClient node = connector.node();
        QuarantinePolicy.MasterState voting =
                new QuarantinePolicy.MasterState(true, true, Optional.empty(), Optional.empty(), ServerTime.UNKNOWN);
        MasterHandshakeReply reply = new MasterHandshakeReply(node, node.epoch(), "run", voting, true, clock.now());
        Thread other = new Thread(() -> masters.handshakeSucceeded(same, reply), "the other handshake");
        meanwhile.set(() -> {
            other.start();
            Await.until("it ends or waits", Duration.ofSeconds(20), () -> ENDED_OR_WAITING.contains(other.getState()));
        });
        assertThat(masters.handshakeSucceeded(one, reply)).isEmpty();
        other.join();
        assertThat(one.voting()).isEqualTo(reply);
        assertThat(same.voting()).isNull();
        assertThat(masters.handshakeSucceeded(same, reply).orElseThrow())
                .hasMessageContaining("are one server, which would have two votes");
    }
}

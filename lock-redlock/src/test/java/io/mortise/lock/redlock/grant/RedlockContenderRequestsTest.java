// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.redis.contender.ContenderRegistry;
import io.mortise.lock.redis.node.BackgroundConnect;
import io.mortise.lock.redis.node.NodeListener;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.Pause;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.RepeatRemoval;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.SendAcquire;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.SendRecovery;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Execution;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.InDoubt;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.NotExecuted;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.PauseOver;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Recovered;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.RemovalDue;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Voted;
import io.mortise.lock.redlock.master.MasterQuarantine;
import io.mortise.lock.redlock.master.RedlockMaster;
import io.mortise.lock.redlock.master.RedlockMasters;
import io.mortise.lock.redlock.storage.RedlockKeys;
import io.mortise.lock.redlock.vote.Quorum;
import io.mortise.lock.redlock.vote.VoteTally;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.testing.ManualClock;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests what is known of a request that threw instead of failing through its callback. Nothing is sent. */
class RedlockContenderRequestsTest {
    private static final Duration LEASE = Duration.ofSeconds(30);

    private final ManualClock clock = new ManualClock();
    private final RedlockContenderRequests requests = requests();
    private final Error error = new StackOverflowError("as planned");
    private final RuntimeException exception = new IllegalStateException("as planned");

    private record Request() implements LockRequest {
        @Override
        public LockName name() {
            return new LockName("x");
        }

        @Override
        public String attemptId() {
            return "0".repeat(32);
        }

        @Override
        public String ownerRecord() {
            return attemptId();
        }

        @Override
        public Duration leaseDuration() {
            return LEASE;
        }

        @Override
        public boolean mayWait() {
            return true;
        }
    }

    private static final class Silent implements NodeListener {
        @Override
        public void onMessage(RedisNodeClient from, String text) {}

        @Override
        public void onSubscribed(RedisNodeClient node) {}
    }

    private RedlockContenderRequests requests() {
        BackendContext context = (BackendContext) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {BackendContext.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "clock" -> clock;
                    case "clientId" -> "c";
                    default -> throw new UnsupportedOperationException(method.getName());
                });
        RedisNodeClient.Target target =
                new RedisNodeClient.Target("", "redis://a", () -> new CompletableFuture<>(), false);
        BackgroundConnect connector = new BackgroundConnect(
                target, "channel", context, Duration.ofSeconds(1), Optional.empty(), new Silent());
        RedlockMasters masters = new RedlockMasters(new Quorum(3), clock);
        masters.set(List.of(new RedlockMaster(0, connector, clock)));
        RedlockKeys keys = new RedlockKeys("lock:");
        ContenderServices services = new ContenderServices(
                context,
                keys,
                masters,
                new MasterQuarantine(masters, keys, LEASE, false, context, () -> {}),
                new ContenderRegistry<>(clock),
                report -> report);
        return new RedlockContenderRequests(services, new Request(), event -> {}, (master, sent) -> {});
    }

    /** Otherwise a vote for an attempt that has ended would stay until its expiry. */
    @Test
    void S08_anAcquireThatThrewAnErrorMayBeExecuted() {
        assertThat(execution(new SendAcquire(0, 1, false, 1), error)).isInstanceOf(InDoubt.class);
        assertThat(execution(new SendAcquire(0, 1, false, 1), exception)).isInstanceOf(NotExecuted.class);
    }

    @Test
    void S08_aRecoveryThatThrewAnErrorMayBeExecuted() {
        assertThat(execution(new SendRecovery(0, 1, 1), error)).isInstanceOf(InDoubt.class);
        assertThat(execution(new SendRecovery(0, 1, 1), exception)).isInstanceOf(NotExecuted.class);
    }

    /** Otherwise the attempt, or the release, would be pending for ever. */
    @Test
    void S08_aTimerThatCannotBeStartedHasFired() {
        assertThat(requests.failed(new RepeatRemoval(2), error)).isEqualTo(new RemovalDue(2));
        assertThat(requests.failed(new Pause(new VoteTally(new Quorum(3)), 1), error))
                .isEqualTo(new PauseOver(clock.now(), false));
    }

    private Execution execution(RedlockContenderEffect effect, Throwable thrown) {
        RedlockContenderEvent event = Objects.requireNonNull(requests.failed(effect, thrown));
        if (event instanceof Voted voted) {
            assertThat(voted.vote().mayBeGranted()).isEqualTo(thrown instanceof Error);
            return voted.execution();
        }
        assertThat(event).isInstanceOf(Recovered.class);
        return ((Recovered) event).execution();
    }
}

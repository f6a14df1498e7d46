// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.LockClient;
import io.mortise.lock.LockException;
import io.mortise.lock.LossReason;
import io.mortise.lock.connect.BackendClients;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.LockRequest;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Tests what a contender does if an effect of its state machine fails at once. */
class RedisContenderTest extends OneServerTest {
    /** A request that cannot be read while it is broken, which makes any effect that needs it fail. */
    private static final class BreakableRequest implements LockRequest {
        private volatile boolean broken;

        @Override
        public LockName name() {
            return new LockName("x");
        }

        @Override
        public String attemptId() {
            if (broken) {
                throw new IllegalStateException("broken");
            }
            return ScriptFixture.attempt(1);
        }

        @Override
        public String ownerRecord() {
            return ScriptFixture.record(1);
        }

        @Override
        public Duration leaseDuration() {
            return Duration.ofSeconds(30);
        }

        @Override
        public boolean mayWait() {
            return true;
        }
    }

    @Test
    void S08_anAcquireThatCannotBeSentFailsItsAttemptAndTheNextIsSent() throws Exception {
        AtomicReference<RedisBackend> backend = new AtomicReference<>();
        try (LockClient client = BackendClients.open(
                context -> {
                    backend.set(RedisBackend.open(options(), context));
                    return Objects.requireNonNull(backend.get());
                },
                RedisTests.LONG_TIMEOUTS)) {
            BreakableRequest request = new BreakableRequest();
            Contender contender = Objects.requireNonNull(backend.get()).enqueue(request, new ContenderListener() {
                @Override
                public void wake() {}

                @Override
                public void lost(LossReason reason) {}
            });
            request.broken = true;
            assertThat(contender.attempt())
                    .failsWithin(20, TimeUnit.SECONDS)
                    .withThrowableThat()
                    .havingCause()
                    .isInstanceOf(LockException.class);
            request.broken = false;
            assertThat(contender.attempt().toCompletableFuture().get(20, TimeUnit.SECONDS))
                    .isInstanceOf(AttemptResult.Granted.class);
            assertThat(contender.end().toCompletableFuture().get(20, TimeUnit.SECONDS))
                    .isTrue();
        }
    }
}

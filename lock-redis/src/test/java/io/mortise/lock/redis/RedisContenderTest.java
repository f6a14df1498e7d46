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
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests what a contender does if an effect of its state machine fails at once, and when it answers. */
class RedisContenderTest extends OneServerTest {
    private final AtomicReference<RedisBackend> backend = new AtomicReference<>();
    private LockClient client;

    /** A request that cannot be read while it is broken, which makes any effect that needs it fail. */
    private static final class BreakableRequest implements LockRequest {
        private final int number;
        private volatile boolean broken;

        BreakableRequest(int number) {
            this.number = number;
        }

        @Override
        public LockName name() {
            return new LockName("x");
        }

        @Override
        public String attemptId() {
            if (broken) {
                throw new IllegalStateException("broken");
            }
            return ScriptFixture.attempt(number);
        }

        @Override
        public String ownerRecord() {
            return ScriptFixture.record(number);
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

    @BeforeEach
    void connect() {
        client = BackendClients.open(
                context -> {
                    RedisBackend opened = RedisBackend.open(options(), context);
                    backend.set(opened);
                    return opened;
                },
                RedisTests.LONG_TIMEOUTS);
    }

    @AfterEach
    void close() {
        client.close();
    }

    private Contender contender(LockRequest request) {
        return Objects.requireNonNull(backend.get()).enqueue(request, new ContenderListener() {
            @Override
            public void wake() {}

            @Override
            public void lost(LossReason reason) {}
        });
    }

    private static <T> T result(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(20, TimeUnit.SECONDS);
    }

    @Test
    void S08_anAcquireThatCannotBeSentFailsItsAttemptAndTheNextIsSent() throws Exception {
        BreakableRequest request = new BreakableRequest(1);
        Contender contender = contender(request);
        request.broken = true;
        assertThat(contender.attempt())
                .failsWithin(20, TimeUnit.SECONDS)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(LockException.class);
        request.broken = false;
        assertThat(result(contender.attempt())).isInstanceOf(AttemptResult.Granted.class);
        assertThat(result(contender.end())).isTrue();
    }

    /** It may have been sent before the error. An acquire is then withdrawn, and after a removal the attempt is not used again. */
    @Test
    void S08_aRequestThatThrewAnErrorMayBeExecuted() {
        RedisContender contender = (RedisContender) contender(new BreakableRequest(1));
        for (Throwable thrown :
                List.of(new StackOverflowError("as planned"), new IllegalStateException("as planned"))) {
            boolean isCertain = thrown instanceof RuntimeException;
            assertThat(contender.failed(RedisContenderEffect.Plain.SEND_ACQUIRE, thrown))
                    .isInstanceOfSatisfying(
                            RedisContenderEvent.AcquireFailed.class,
                            failed -> assertThat(failed.notExecuted()).isEqualTo(isCertain));
            assertThat(contender.failed(new RedisContenderEffect.SendRemoval(false), thrown))
                    .isInstanceOfSatisfying(
                            RedisContenderEvent.RemovalFailed.class,
                            failed -> assertThat(failed.notExecuted()).isEqualTo(isCertain));
        }
    }

    /** Otherwise the acquire would find the lock busy, and would be queued. */
    @Test
    void S05_aReleaseThatIsCalledOnAGrantIsSentBeforeTheNextAcquire() throws Exception {
        Contender warmUp =
                contender(new BreakableRequest(1)); // a script that the server does not know is sent again later
        result(warmUp.attempt());
        result(warmUp.end());
        for (int i = 0; i < 20; i++) { // the grant comes on the I/O thread in most of them
            Contender first = contender(new BreakableRequest(1));
            Contender second = contender(new BreakableRequest(2));
            CompletionStage<AttemptResult> next = first.attempt().thenCompose(granted -> {
                CompletionStage<Boolean> released = first.end();
                return second.attempt().thenCombine(released, (result, existed) -> result);
            });
            assertThat(result(next)).isInstanceOf(AttemptResult.Granted.class);
            assertThat(result(second.end())).isTrue();
        }
    }
}

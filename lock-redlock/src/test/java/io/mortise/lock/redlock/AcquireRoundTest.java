// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Lease;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redis.script.ReplyHandler;
import io.mortise.lock.redlock.storage.RedlockScript;
import io.mortise.lock.spi.LockName;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that an acquire round that is lost while it sends its requests reports only masters that failed. */
@Tag("once")
class AcquireRoundTest extends ThreeLinkedMastersTest {
    /** Runs an action on the I/O thread of a connection, in the callback of a reply. */
    private static <T> CompletableFuture<T> onIoThread(RedisNodeClient node, Supplier<T> action) {
        CompletableFuture<T> done = new CompletableFuture<>();
        String[] unknownAttempt = {"0".repeat(32), "1", "0"};
        node.run(
                RedlockScript.YIELD_VOTE.script(),
                KEYS.of(new LockName("none")).all(),
                unknownAttempt,
                new ReplyHandler() {
                    @Override
                    public void onReply(List<Object> values) {
                        done.complete(action.get());
                    }

                    @Override
                    public void onFailure(Throwable cause, boolean notExecuted) {
                        done.completeExceptionally(cause);
                    }
                });
        return done;
    }

    /** Blocks the I/O threads of two masters, which may be the same thread. */
    private void blockIoThreads(int first, int second, CompletableFuture<?> unblocked) throws Exception {
        Map<Thread, RedisNodeClient> nodes = new HashMap<>();
        for (int index : new int[] {first, second}) {
            RedisNodeClient node = master(index).node();
            nodes.put(onIoThread(node, Thread::currentThread).get(20, TimeUnit.SECONDS), node);
        }
        for (RedisNodeClient node : nodes.values()) {
            CompletableFuture<Void> blocked = new CompletableFuture<>();
            onIoThread(node, () -> {
                blocked.complete(null);
                return unblocked.orTimeout(60, TimeUnit.SECONDS).join();
            });
            blocked.get(20, TimeUnit.SECONDS);
        }
    }

    @Test
    void S15_masterWithoutARequestIsNotReportedAsFailed() throws Exception {
        CompletableFuture<Void> unblocked = new CompletableFuture<>();
        try {
            blockIoThreads(0, 1, unblocked); // the loss of their connections goes unnoticed
            master(0).node().close();
            master(1).node().close();
            CompletableFuture<Optional<Lease>> acquiring = client().named("x").tryAcquireAsync(Duration.ZERO);
            assertThat(acquiring)
                    .failsWithin(Duration.ofSeconds(20))
                    .withThrowableThat()
                    .withCauseInstanceOf(BackendUnavailableException.class)
                    .withMessageContaining("no quorum: 0 of 3 masters answered")
                    .withMessageContaining(":" + link(0).port() + " (")
                    .withMessageContaining(":" + link(1).port() + " (")
                    .withMessageNotContaining(":" + link(2).port() + " (");
        } finally {
            unblocked.complete(null);
        }
    }
}

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

/** One round, with what happens between two questions. */
@Tag("once")
class AcquireRoundTest extends ThreeLinkedMastersTest {
    /** Blocks the I/O thread with the callback of an answer. */
    private static <T> CompletableFuture<T> onItsThread(RedisNodeClient node, Supplier<T> action) {
        CompletableFuture<T> done = new CompletableFuture<>();
        String[] nobodys = {"0".repeat(32)};
        node.run(
                RedlockScript.YIELD_VOTE.script(), KEYS.of(new LockName("none")).all(), nobodys, new ReplyHandler() {
                    @Override
                    public void answered(List<Object> values) {
                        done.complete(action.get());
                    }

                    @Override
                    public void failed(Throwable cause, boolean notExecuted) {
                        done.completeExceptionally(cause);
                    }
                });
        return done;
    }

    /** Blocks the I/O threads of these masters, which may be the same. */
    private void hold(int one, int other, CompletableFuture<?> until) throws Exception {
        Map<Thread, RedisNodeClient> nodes = new HashMap<>();
        for (int index : new int[] {one, other}) {
            RedisNodeClient node = master(index).node();
            nodes.put(onItsThread(node, Thread::currentThread).get(20, TimeUnit.SECONDS), node);
        }
        for (RedisNodeClient node : nodes.values()) {
            CompletableFuture<Void> held = new CompletableFuture<>();
            onItsThread(node, () -> {
                held.complete(null);
                return until.orTimeout(60, TimeUnit.SECONDS).join();
            });
            held.get(20, TimeUnit.SECONDS);
        }
    }

    @Test
    void S15_masterThatWasNotAskedIsNotReportedAsFailed() throws Exception {
        CompletableFuture<Void> until = new CompletableFuture<>();
        try {
            hold(0, 1, until); // the loss of their connections goes unnoticed
            master(0).node().close();
            master(1).node().close();
            CompletableFuture<Optional<Lease>> tried = client().named("x").tryAcquireAsync(Duration.ZERO);
            assertThat(tried)
                    .failsWithin(Duration.ofSeconds(20))
                    .withThrowableThat()
                    .withCauseInstanceOf(BackendUnavailableException.class)
                    .withMessageContaining("no quorum: 0 of 3 masters answered")
                    .withMessageContaining(":" + link(0).port() + " (")
                    .withMessageContaining(":" + link(1).port() + " (")
                    .withMessageNotContaining(":" + link(2).port() + " (");
        } finally {
            until.complete(null);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisFuture;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Lease;
import io.mortise.lock.redis.node.RedisNode;
import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** One round, with what happens between two questions. */
@Tag("once")
class RoundTest extends ThreeLinesTest {
    private static <T> CompletableFuture<T> onItsThread(RedisNode node, Supplier<T> action) {
        CompletableFuture<T> done = new CompletableFuture<>();
        node.ask("a ping", commands -> {
            RedisFuture<String> ping = commands.ping();
            ping.thenRun(() -> done.complete(action.get()));
            return ping;
        });
        return done;
    }

    /** Holds the threads that read what these masters say, which may be one. */
    private void hold(int one, int other, CompletableFuture<?> until) throws Exception {
        Set<Thread> threads = new HashSet<>();
        for (int index : new int[] {one, other}) {
            RedisNode node = master(index).node();
            if (threads.add(onItsThread(node, Thread::currentThread).get(20, TimeUnit.SECONDS))) {
                CompletableFuture<Void> held = new CompletableFuture<>();
                onItsThread(node, () -> {
                    held.complete(null);
                    return until.orTimeout(60, TimeUnit.SECONDS).join();
                });
                held.get(20, TimeUnit.SECONDS);
            }
        }
    }

    @Test
    void S15_aMasterThatWasNotAskedAnyMoreIsNotNamedAsSilent() throws Exception {
        CompletableFuture<Void> until = new CompletableFuture<>();
        try {
            hold(0, 1, until); // nobody is told that their connections end
            master(0).node().close();
            master(1).node().close();
            CompletableFuture<Optional<Lease>> tried = client().named("x").tryAcquireAsync(Duration.ZERO);
            assertThat(tried)
                    .failsWithin(Duration.ofSeconds(20))
                    .withThrowableThat()
                    .withCauseInstanceOf(BackendUnavailableException.class)
                    .withMessageContaining("no quorum: 0 of 3 masters answered")
                    .withMessageContaining(":" + line(0).port() + " (")
                    .withMessageContaining(":" + line(1).port() + " (")
                    .withMessageNotContaining(":" + line(2).port() + " (");
        } finally {
            until.complete(null);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.spi.ManualClock;
import io.mortise.lock.testkit.servers.Await;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RedisNodeTest {
    @Test
    void S15_aNodesRequestsHaveItsOwnDeadline() {
        try (NodeBench bench = new NodeBench()) {
            RedisNode node = bench.node(Duration.ofMillis(300));
            bench.server.pause();
            CompletionStage<?> script = node.ask("a script", new Script("return 1"), new String[0]);
            CompletionStage<?> command = node.ask("a ping", commands -> commands.ping());
            for (CompletionStage<?> asked : new CompletionStage<?>[] {script, command}) {
                assertThatThrownBy(() -> asked.toCompletableFuture().get(20, TimeUnit.SECONDS))
                        .hasCauseInstanceOf(BackendUnavailableException.class)
                        .hasMessageContaining(bench.server.url());
            }
            assertThatThrownBy(() -> script.toCompletableFuture().join()).hasMessageContaining("300 ms");
            bench.server.resume();
            node.close().join();
        }
    }

    @Test
    void S16_aConnectionThatComesAfterItWasGivenUpIsClosed() throws Exception {
        ManualClock clock = new ManualClock();
        try (NodeBench bench = new NodeBench(clock)) {
            CompletableFuture<StatefulRedisPubSubConnection<String, String>> connecting = new CompletableFuture<>();
            RedisNode node = new RedisNode(
                    new RedisNode.Target("", bench.server.url(), () -> connecting, true),
                    bench.context,
                    bench.context.requestTimeout(),
                    0,
                    bench.told);
            CompletionStage<?> started = node.start("c");
            clock.advance(bench.context.requestTimeout());
            assertThatThrownBy(() -> started.toCompletableFuture().get(20, TimeUnit.SECONDS))
                    .hasMessageContaining(bench.server.url());
            StatefulRedisPubSubConnection<String, String> late = bench.connect();
            connecting.complete(late);
            Await.until("it is closed", NodeBench.SOON, () -> !late.isOpen());
            assertThat(bench.told.opened).isEmpty();
        }
    }
}

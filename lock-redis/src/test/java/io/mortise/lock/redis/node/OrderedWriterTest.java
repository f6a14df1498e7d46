// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.KillArgs;
import io.mortise.lock.redis.script.LuaScript;
import io.mortise.lock.redis.script.ReplyHandler;
import io.mortise.lock.redis.script.ScriptCall;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class OrderedWriterTest {
    private static final LuaScript APPEND = new LuaScript("return redis.call('RPUSH', 'order', ARGV[1])");
    private static final String[] NO_KEYS = {};

    private final List<CompletionStage<?>> requests = new ArrayList<>();

    private void append(RedisNodeClient node, String what) {
        requests.add(node.execute("append", APPEND, NO_KEYS, what));
    }

    /** The channel's thread is busy while another thread sends, and then sends requests itself. */
    @Test
    void S08_requestsOfTheChannelsOwnThreadDoNotOvertakeEarlierOnes() throws Exception {
        try (NodeFixture fixture = new NodeFixture()) {
            RedisNodeClient node = fixture.node(Duration.ofSeconds(20));
            append(node, "known script");
            requests.get(0).toCompletableFuture().get(20, TimeUnit.SECONDS);

            CompletableFuture<Void> onChannel = new CompletableFuture<>();
            CompletableFuture<Void> sent = new CompletableFuture<>();
            CompletableFuture<Void> done = new CompletableFuture<>();
            node.run(new LuaScript("return 1"), NO_KEYS, NO_KEYS, new ReplyHandler() {
                @Override
                public void onReply(List<Object> values) {
                    onChannel.complete(null);
                    sent.orTimeout(20, TimeUnit.SECONDS).join();
                    append(node, "third");
                    append(node, "fourth");
                    done.complete(null);
                }

                @Override
                public void onFailure(Throwable cause, boolean notExecuted) {
                    onChannel.completeExceptionally(cause);
                }
            });
            onChannel.get(20, TimeUnit.SECONDS);
            append(node, "first");
            append(node, "second");
            sent.complete(null);
            done.get(20, TimeUnit.SECONDS);
            for (CompletionStage<?> request : List.copyOf(requests)) {
                request.toCompletableFuture().get(20, TimeUnit.SECONDS);
            }

            assertThat(fixture.connect().async().lrange("order", 0, -1).get(20, TimeUnit.SECONDS))
                    .containsExactly("known script", "first", "second", "third", "fourth");
            node.close().join();
        }
    }

    /** The call timed out, or the connection was lost, before it was counted, so it is never written. */
    @Test
    void S08_aCallThatEndsBeforeItIsSentDelaysNoOther() {
        OrderedWriter writer = new OrderedWriter(() -> {
            throw new AssertionError("no unwritten call exists before it");
        });
        ScriptCall ended = ScriptCall.bySha1(APPEND, NO_KEYS, NO_KEYS, new MonotonicInstant(0), 0);
        ended.written();
        writer.send(ended, () -> {});
        writer.onChannelThread();
        List<String> ran = new ArrayList<>();
        writer.send(ScriptCall.bySha1(APPEND, NO_KEYS, NO_KEYS, new MonotonicInstant(0), 0), () -> ran.add("at once"));
        assertThat(ran).containsExactly("at once");
    }

    /** No call waits for one that was not written before the connection was lost. */
    @Test
    void S08_afterALostConnectionTheOrderIsStillKept() throws Exception {
        try (NodeFixture fixture = new NodeFixture()) {
            RedisNodeClient node = fixture.node(Duration.ofSeconds(20));
            fixture.server.pause();
            append(node, "perhaps");
            fixture.server.resume();
            fixture.connect().async().clientKill(KillArgs.Builder.typePubsub()).get(20, TimeUnit.SECONDS);
            Await.until("it has reconnected", NodeFixture.SOON, () -> fixture.events.listening.size() > 1);

            CompletableFuture<Void> both = new CompletableFuture<>();
            node.run(new LuaScript("return 1"), NO_KEYS, NO_KEYS, new ReplyHandler() {
                @Override
                public void onReply(List<Object> values) {
                    append(node, "third");
                    append(node, "fourth");
                    both.complete(null);
                }

                @Override
                public void onFailure(Throwable cause, boolean notExecuted) {
                    both.completeExceptionally(cause);
                }
            });
            both.get(20, TimeUnit.SECONDS);
            for (CompletionStage<?> request : requests.subList(1, requests.size())) {
                request.toCompletableFuture().get(20, TimeUnit.SECONDS);
            }
            assertThat(fixture.connect().async().lrange("order", -2, -1).get(20, TimeUnit.SECONDS))
                    .containsExactly("third", "fourth");
            node.close().join();
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.redis.script.LuaScript;
import io.mortise.lock.redis.script.ReplyHandler;
import io.mortise.lock.redis.script.ScriptCall;
import io.mortise.lock.spi.MonotonicTime;
import io.mortise.lock.spi.testing.ManualClock;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RedisNodeClientTest {
    private static final String[] NO_KEYS = {};

    @Test
    void S15_aNodesRequestsHaveItsOwnDeadline() {
        try (NodeFixture fixture = new NodeFixture()) {
            RedisNodeClient node = fixture.node(Duration.ofMillis(300));
            fixture.server.pause();
            CompletionStage<?> script = node.ask("a script", new LuaScript("return 1"), NO_KEYS);
            CompletionStage<?> command = node.ask("a ping", commands -> commands.ping());
            for (CompletionStage<?> asked : new CompletionStage<?>[] {script, command}) {
                assertThatThrownBy(() -> asked.toCompletableFuture().get(20, TimeUnit.SECONDS))
                        .hasCauseInstanceOf(BackendUnavailableException.class)
                        .hasMessageContaining(fixture.server.url());
            }
            assertThatThrownBy(() -> script.toCompletableFuture().join()).hasMessageContaining("300 ms");
            fixture.server.resume();
            node.close().join();
        }
    }

    /** As after a pause of the whole process: the timers run first, and the answer is in the socket already. */
    @Test
    void S15_anAnswerThatNobodyHasReadYetIsNoSilence() throws Exception {
        ManualClock clock = new ManualClock();
        try (NodeFixture fixture = new NodeFixture(clock)) {
            Duration limit = Duration.ofSeconds(2);
            RedisNodeClient node = fixture.node(limit);
            long connection = connectionId(node);
            LuaScript known = new LuaScript("return 1").whole();
            CompletableFuture<Void> stopped = new CompletableFuture<>();
            CompletableFuture<Void> goesOn = new CompletableFuture<>();
            fixture.server.pause(); // both are written before either is answered
            node.run(known, NO_KEYS, NO_KEYS, new ReplyHandler() {
                @Override
                public void answered(List<Object> values) {
                    stopped.complete(null);
                    goesOn.orTimeout(20, TimeUnit.SECONDS).join();
                }

                @Override
                public void failed(Throwable cause, boolean notExecuted) {
                    stopped.completeExceptionally(cause);
                }
            });
            CompletionStage<?> second = node.ask("a script", known, NO_KEYS);
            fixture.server.resume();
            stopped.get(20, TimeUnit.SECONDS);
            clock.jump(limit.multipliedBy(2));
            goesOn.complete(null);
            second.toCompletableFuture().get(20, TimeUnit.SECONDS);
            clock.advance(limit);

            assertThat(fixture.told.troubles).isEmpty();
            assertThat(connectionId(node)).as("the connection").isEqualTo(connection);
            node.close().join();
        }
    }

    /** As above, and the thread that is to read stays behind for as long as it takes. */
    @Test
    void S15_aThreadThatDoesNotReadIsNoSilence() throws Exception {
        ManualClock clock = new ManualClock();
        try (NodeFixture fixture = new NodeFixture(clock)) {
            Duration limit = Duration.ofSeconds(2);
            RedisNodeClient node = fixture.node(limit);
            long connection = connectionId(node);
            CompletableFuture<Void> stopped = new CompletableFuture<>();
            CompletableFuture<Void> goesOn = new CompletableFuture<>();
            CompletableFuture<Void> first = new CompletableFuture<>();
            node.run(new LuaScript("return 1").whole(), NO_KEYS, NO_KEYS, new ReplyHandler() {
                @Override
                public void answered(List<Object> values) {
                    stopped.complete(null);
                    first.complete(goesOn.orTimeout(60, TimeUnit.SECONDS).join());
                }

                @Override
                public void failed(Throwable cause, boolean notExecuted) {
                    stopped.completeExceptionally(cause);
                }
            });
            stopped.get(20, TimeUnit.SECONDS);
            clock.advance(Duration.ofMillis(1));
            CompletionStage<?> second = node.ask("a script", new LuaScript("return 1"), NO_KEYS);
            clock.advance(limit.multipliedBy(2));
            assertThatThrownBy(() -> second.toCompletableFuture().get(20, TimeUnit.SECONDS))
                    .hasMessageContaining("no answer");
            goesOn.complete(null);
            first.get(20, TimeUnit.SECONDS);
            assertThat(connectionId(node)).as("the connection").isEqualTo(connection);
            clock.advance(limit);
            assertThat(connectionId(node)).as("the connection").isEqualTo(connection);
            node.close().join();
        }
    }

    @Test
    void S15_theConnectionOfASilentServerIsDropped() throws Exception {
        try (NodeFixture fixture = new NodeFixture()) {
            RedisNodeClient node = fixture.node(Duration.ofMillis(300));
            int epoch = node.epoch();
            fixture.server.pause();
            CompletionStage<?> asked = node.ask("a script", new LuaScript("return 1"), NO_KEYS);
            Await.until("it is dropped", NodeFixture.SOON, () -> node.epoch() != epoch);
            assertThat(asked.toCompletableFuture()).isCompletedExceptionally();
            fixture.server.resume();
            node.close().join();
        }
    }

    /** As above: what has been read only after the question was written is no silence either. */
    @Test
    void S15_aSilentServerHasTimeToAnswerOneQuestionMore() throws Exception {
        ManualClock clock = new ManualClock();
        try (NodeFixture fixture = new NodeFixture(clock)) {
            Duration limit = Duration.ofSeconds(2);
            RedisNodeClient node = fixture.node(limit);
            long connection = connectionId(node);
            clock.advance(Duration.ofMillis(1));
            fixture.server.pause();
            CompletionStage<?> asked = node.ask("a script", new LuaScript("return 1"), NO_KEYS);
            clock.advance(limit); // no further: the timer that the written question sets must not run too
            assertThatThrownBy(() -> asked.toCompletableFuture().get(20, TimeUnit.SECONDS))
                    .hasMessageContaining("no answer");
            Await.until(
                    "the question is written",
                    NodeFixture.SOON,
                    () -> clock.untilNext().isPresent());
            clock.advance(limit.dividedBy(4).minusMillis(1));
            fixture.server.resume();
            assertThat(connectionId(node)).as("the connection").isEqualTo(connection);
            clock.advance(limit);
            assertThat(connectionId(node)).as("the connection").isEqualTo(connection);
            node.close().join();
        }
    }

    /** It was given up, but it shows that the connection works. */
    @Test
    void S15_aLateAnswerIsHeard() {
        AtomicInteger heard = new AtomicInteger();
        ScriptCall call = ScriptCall.byText(new LuaScript("return 1"), NO_KEYS, NO_KEYS, new MonotonicTime(0), 1);
        call.whenAnswered(heard::incrementAndGet);
        call.completeExceptionally(new BackendUnavailableException("no answer"));
        assertThat(heard).hasValue(0);
        call.complete();
        assertThat(heard).hasValue(1);
    }

    private static long connectionId(RedisNodeClient node) throws Exception {
        return node.ask("its id", RedisPubSubAsyncCommands::clientId)
                .toCompletableFuture()
                .get(20, TimeUnit.SECONDS);
    }

    @Test
    void S15_aQuestionWaitsForAConnectionThatIsMadeAnew() throws Exception {
        ManualClock clock = new ManualClock();
        try (NodeFixture fixture = new NodeFixture(clock)) {
            RedisNodeClient node = fixture.node(Duration.ofSeconds(5));
            fixture.server.pause(); // a new connection is not answered
            node.reconnect();
            Await.until("it is disconnected", NodeFixture.SOON, () -> !node.isConnected());
            CompletionStage<?> command = node.ask("a ping", commands -> commands.ping());
            CompletionStage<?> script = node.ask("a script", new LuaScript("return 1"), NO_KEYS);
            fixture.server.resume();
            Await.until("it is connected", NodeFixture.SOON, node::isConnected);
            clock.advance(Duration.ofMillis(50));
            assertThat(command.toCompletableFuture().get(20, TimeUnit.SECONDS)).isEqualTo("PONG");
            script.toCompletableFuture().get(20, TimeUnit.SECONDS);
            node.close().join();
        }
    }

    @Test
    void S15_aQuestionToALostServerFailsSoon() throws Exception {
        ManualClock clock = new ManualClock();
        try (NodeFixture fixture = new NodeFixture(clock)) {
            RedisNodeClient node = fixture.node(Duration.ofSeconds(5));
            fixture.server.pause();
            node.reconnect();
            Await.until("it is disconnected", NodeFixture.SOON, () -> !node.isConnected());
            CompletionStage<?> command = node.ask("a ping", commands -> commands.ping());
            assertThat(command.toCompletableFuture()).isNotDone();
            clock.advance(Duration.ofSeconds(2));
            assertThatThrownBy(() -> command.toCompletableFuture().get(20, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("not connected");
            fixture.server.resume();
            node.close().join();
        }
    }

    @Test
    void S16_aConnectionThatComesAfterItWasGivenUpIsClosed() throws Exception {
        ManualClock clock = new ManualClock();
        try (NodeFixture fixture = new NodeFixture(clock)) {
            CompletableFuture<StatefulRedisPubSubConnection<String, String>> connecting = new CompletableFuture<>();
            RedisNodeClient node = new RedisNodeClient(
                    new RedisNodeClient.Target("", fixture.server.url(), () -> connecting, true),
                    fixture.context,
                    fixture.context.requestTimeout(),
                    0,
                    fixture.told);
            CompletionStage<?> started = node.start("c");
            clock.advance(fixture.context.requestTimeout());
            assertThatThrownBy(() -> started.toCompletableFuture().get(20, TimeUnit.SECONDS))
                    .hasMessageContaining(fixture.server.url());
            StatefulRedisPubSubConnection<String, String> late = fixture.connect();
            connecting.complete(late);
            Await.until("it is closed", NodeFixture.SOON, () -> !late.isOpen());
            assertThat(fixture.told.opened).isEmpty();
        }
    }
}

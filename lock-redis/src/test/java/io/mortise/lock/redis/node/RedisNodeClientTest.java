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
import io.mortise.lock.spi.MonotonicInstant;
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
    void S15_theRequestsOfANodeHaveItsOwnTimeout() {
        try (NodeFixture fixture = new NodeFixture()) {
            RedisNodeClient node = fixture.node(Duration.ofMillis(300));
            fixture.server.pause();
            CompletionStage<?> script = node.execute("a script", new LuaScript("return 1"), NO_KEYS);
            CompletionStage<?> command = node.execute("a ping", commands -> commands.ping());
            for (CompletionStage<?> request : new CompletionStage<?>[] {script, command}) {
                assertThatThrownBy(() -> request.toCompletableFuture().get(20, TimeUnit.SECONDS))
                        .hasCauseInstanceOf(BackendUnavailableException.class)
                        .hasMessageContaining(fixture.server.url());
            }
            assertThatThrownBy(() -> script.toCompletableFuture().join()).hasMessageContaining("300 ms");
            fixture.server.resume();
            node.close().join();
        }
    }

    /** As after a pause of the whole process: the timers run first, while the reply is already in the socket. */
    @Test
    void S15_aReplyThatIsNotReadYetIsNoSilence() throws Exception {
        ManualClock clock = new ManualClock();
        try (NodeFixture fixture = new NodeFixture(clock)) {
            Duration limit = Duration.ofSeconds(2);
            RedisNodeClient node = fixture.node(limit);
            long connection = connectionId(node);
            LuaScript known = new LuaScript("return 1");
            fixture.connect().async().scriptLoad(known.text()).get(20, TimeUnit.SECONDS);
            CompletableFuture<Void> stopped = new CompletableFuture<>();
            CompletableFuture<Void> resume = new CompletableFuture<>();
            fixture.server.pause(); // so that both requests are written before either has a reply
            node.run(known, NO_KEYS, NO_KEYS, new ReplyHandler() {
                @Override
                public void onReply(List<Object> values) {
                    stopped.complete(null);
                    resume.orTimeout(20, TimeUnit.SECONDS).join();
                }

                @Override
                public void onFailure(Throwable cause, boolean notExecuted) {
                    stopped.completeExceptionally(cause);
                }
            });
            CompletionStage<?> second = node.execute("a script", known, NO_KEYS);
            fixture.server.resume();
            stopped.get(20, TimeUnit.SECONDS);
            clock.advanceThenRunTimers(limit.multipliedBy(2));
            resume.complete(null);
            second.toCompletableFuture().get(20, TimeUnit.SECONDS);
            clock.advance(limit);

            assertThat(fixture.events.troubles).isEmpty();
            assertThat(connectionId(node)).as("the connection").isEqualTo(connection);
            node.close().join();
        }
    }

    /** It is then executed after requests that were sent after it, so their replies do not show that it was not. */
    @Test
    void S08_aRequestIsToldThatItIsSentAgain() throws Exception {
        try (NodeFixture fixture = new NodeFixture()) {
            RedisNodeClient node = fixture.node(Duration.ofSeconds(20));
            LuaScript unknown = new LuaScript("return 'not known yet'");
            for (int expected : new int[] {1, 0}) {
                AtomicInteger sentAgain = new AtomicInteger();
                CompletableFuture<Void> replied = new CompletableFuture<>();
                node.run(unknown, NO_KEYS, NO_KEYS, new ReplyHandler() {
                    @Override
                    public void onSentAgain() {
                        sentAgain.incrementAndGet();
                    }

                    @Override
                    public void onReply(List<Object> values) {
                        replied.complete(null);
                    }

                    @Override
                    public void onFailure(Throwable cause, boolean notExecuted) {
                        replied.completeExceptionally(cause);
                    }
                });
                replied.get(20, TimeUnit.SECONDS);
                assertThat(sentAgain).hasValue(expected);
            }
            node.close().join();
        }
    }

    /** As above, but the I/O thread stays blocked for a long time. */
    @Test
    void S15_aThreadThatDoesNotReadIsNoSilence() throws Exception {
        ManualClock clock = new ManualClock();
        try (NodeFixture fixture = new NodeFixture(clock)) {
            Duration limit = Duration.ofSeconds(2);
            RedisNodeClient node = fixture.node(limit);
            long connection = connectionId(node);
            CompletableFuture<Void> stopped = new CompletableFuture<>();
            CompletableFuture<Void> resume = new CompletableFuture<>();
            CompletableFuture<Void> first = new CompletableFuture<>();
            node.run(new LuaScript("return 1"), NO_KEYS, NO_KEYS, new ReplyHandler() {
                @Override
                public void onReply(List<Object> values) {
                    stopped.complete(null);
                    first.complete(resume.orTimeout(60, TimeUnit.SECONDS).join());
                }

                @Override
                public void onFailure(Throwable cause, boolean notExecuted) {
                    stopped.completeExceptionally(cause);
                }
            });
            stopped.get(20, TimeUnit.SECONDS);
            clock.advance(Duration.ofMillis(1));
            CompletionStage<?> second = node.execute("a script", new LuaScript("return 1"), NO_KEYS);
            clock.advance(limit.multipliedBy(2));
            assertThatThrownBy(() -> second.toCompletableFuture().get(20, TimeUnit.SECONDS))
                    .hasMessageContaining("no answer");
            resume.complete(null);
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
            CompletionStage<?> request = node.execute("a script", new LuaScript("return 1"), NO_KEYS);
            Await.until("it is dropped", NodeFixture.SOON, () -> node.epoch() != epoch);
            assertThat(request.toCompletableFuture()).isCompletedExceptionally();
            fixture.server.resume();
            node.close().join();
        }
    }

    /** Operators may send no other requests. */
    @Test
    void S15_theConnectionIsDroppedAlsoIfOnlyACommandHasNoReply() throws Exception {
        ManualClock clock = new ManualClock();
        try (NodeFixture fixture = new NodeFixture(clock)) {
            RedisNodeClient node = fixture.node(Duration.ofSeconds(2));
            int epoch = node.epoch();
            clock.advance(Duration.ofMillis(1));
            fixture.server.pause();
            CompletionStage<?> command = node.execute("a ping", commands -> commands.ping());
            clock.advance(fixture.context.requestTimeout());
            assertThat(command.toCompletableFuture()).isCompletedExceptionally();
            Await.until(
                    "the check is written",
                    NodeFixture.SOON,
                    () -> clock.untilNextTimer().isPresent());
            clock.advance(Duration.ofSeconds(1));
            Await.until("it is dropped", NodeFixture.SOON, () -> node.epoch() != epoch);
            fixture.server.resume();
            node.close().join();
        }
    }

    /** As above: a reply that is read only after the ping was written is no silence either. */
    @Test
    void S15_aSilentServerHasTimeToReplyToAPing() throws Exception {
        ManualClock clock = new ManualClock();
        try (NodeFixture fixture = new NodeFixture(clock)) {
            Duration limit = Duration.ofSeconds(2);
            RedisNodeClient node = fixture.node(limit);
            long connection = connectionId(node);
            clock.advance(Duration.ofMillis(1));
            fixture.server.pause();
            CompletionStage<?> request = node.execute("a script", new LuaScript("return 1"), NO_KEYS);
            clock.advance(limit); // no further: the timer that the written ping sets must not run too
            assertThatThrownBy(() -> request.toCompletableFuture().get(20, TimeUnit.SECONDS))
                    .hasMessageContaining("no answer");
            Await.until(
                    "the ping is written",
                    NodeFixture.SOON,
                    () -> clock.untilNextTimer().isPresent());
            clock.advance(limit.dividedBy(4).minusMillis(1));
            fixture.server.resume();
            assertThat(connectionId(node)).as("the connection").isEqualTo(connection);
            clock.advance(limit);
            assertThat(connectionId(node)).as("the connection").isEqualTo(connection);
            node.close().join();
        }
    }

    /** The call has timed out, but its reply shows that the connection works. */
    @Test
    void S15_aLateReplyIsNoticed() {
        AtomicInteger replies = new AtomicInteger();
        ScriptCall call = ScriptCall.byText(new LuaScript("return 1"), NO_KEYS, NO_KEYS, new MonotonicInstant(0), 1);
        call.onReply(replies::incrementAndGet);
        call.completeExceptionally(new BackendUnavailableException("no answer"));
        assertThat(replies).hasValue(0);
        call.complete();
        assertThat(replies).hasValue(1);
    }

    private static long connectionId(RedisNodeClient node) throws Exception {
        return node.execute("its id", RedisPubSubAsyncCommands::clientId)
                .toCompletableFuture()
                .get(20, TimeUnit.SECONDS);
    }

    @Test
    void S15_aCommandWaitsForAConnectionThatIsReopened() throws Exception {
        ManualClock clock = new ManualClock();
        try (NodeFixture fixture = new NodeFixture(clock)) {
            RedisNodeClient node = fixture.node(Duration.ofSeconds(5));
            fixture.server.pause(); // so that a new connection gets no reply
            node.reconnect();
            Await.until("it is disconnected", NodeFixture.SOON, () -> !node.isConnected());
            CompletionStage<?> command = node.execute("a ping", commands -> commands.ping());
            CompletionStage<?> script = node.execute("a script", new LuaScript("return 1"), NO_KEYS);
            fixture.server.resume();
            Await.until("it is connected", NodeFixture.SOON, node::isConnected);
            clock.advance(Duration.ofMillis(50));
            assertThat(command.toCompletableFuture().get(20, TimeUnit.SECONDS)).isEqualTo("PONG");
            script.toCompletableFuture().get(20, TimeUnit.SECONDS);
            node.close().join();
        }
    }

    @Test
    void S15_aCommandToALostServerFailsSoon() throws Exception {
        ManualClock clock = new ManualClock();
        try (NodeFixture fixture = new NodeFixture(clock)) {
            RedisNodeClient node = fixture.node(Duration.ofSeconds(5));
            fixture.server.pause();
            node.reconnect();
            Await.until("it is disconnected", NodeFixture.SOON, () -> !node.isConnected());
            CompletionStage<?> command = node.execute("a ping", commands -> commands.ping());
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
    void S16_aConnectionThatIsOpenedTooLateIsClosed() throws Exception {
        ManualClock clock = new ManualClock();
        try (NodeFixture fixture = new NodeFixture(clock)) {
            CompletableFuture<StatefulRedisPubSubConnection<String, String>> connecting = new CompletableFuture<>();
            RedisNodeClient node = new RedisNodeClient(
                    new RedisNodeClient.Target("", fixture.server.url(), () -> connecting, true),
                    fixture.context,
                    fixture.context.requestTimeout(),
                    0,
                    fixture.events);
            CompletionStage<?> started = node.start("c");
            clock.advance(fixture.context.requestTimeout());
            assertThatThrownBy(() -> started.toCompletableFuture().get(20, TimeUnit.SECONDS))
                    .hasMessageContaining(fixture.server.url());
            StatefulRedisPubSubConnection<String, String> late = fixture.connect();
            connecting.complete(late);
            Await.until("it is closed", NodeFixture.SOON, () -> !late.isOpen());
            assertThat(fixture.events.opened).isEmpty();
        }
    }
}

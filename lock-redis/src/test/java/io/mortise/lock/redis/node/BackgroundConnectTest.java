// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.redis.connect.InitialConnection;
import io.mortise.lock.spi.testing.ManualClock;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class BackgroundConnectTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    @Test
    void S14_aServerThatIsDownAtTheStartIsConnectedOnceItIsUp() throws Exception {
        try (NodeFixture fixture = new NodeFixture()) {
            fixture.server.stop();
            BackgroundConnect reopening = new BackgroundConnect(
                    fixture.target(), "c", fixture.context, TIMEOUT, Optional.empty(), fixture.events);
            reopening.start();
            Await.until("two tries failed", NodeFixture.SOON, () -> fixture.events.troubles.size() >= 2);
            assertThat(InitialConnection.explained(reopening.failure().orElseThrow(), fixture.server.url()))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("connection refused at 127.0.0.1:" + fixture.server.port());
            assertThat(fixture.events.opened).isEmpty();

            fixture.server.restart();
            Await.until("it is opened", NodeFixture.SOON, () -> !fixture.events.opened.isEmpty());
            RedisNodeClient node = reopening.node();
            assertThat(fixture.events.opened).containsExactly(node);
            assertThat(fixture.events.listening).containsExactly(node);
            assertThat(reopening.failure()).isEmpty();

            int epoch = node.epoch();
            fixture.server.kill();
            fixture.server.restart();
            Await.until(
                    "the next connection is reported", NodeFixture.SOON, () -> fixture.events.listening.size() == 2);
            assertThat(reopening.node()).isSameAs(node);
            assertThat(node.epoch()).isNotEqualTo(epoch);
            assertThat(node.execute("a ping", commands -> commands.ping())
                            .toCompletableFuture()
                            .get(20, TimeUnit.SECONDS))
                    .isEqualTo("PONG");
            reopening.close().get(20, TimeUnit.SECONDS);
            Await.until("its connection is closed", NodeFixture.SOON, () -> !node.isConnected());
        }
    }

    @Test
    void S16_thePausesGrowAndNoTryFollowsTheClose() {
        ManualClock clock = new ManualClock();
        try (NodeFixture fixture = new NodeFixture(clock)) {
            RedisNodeClient.Target away = new RedisNodeClient.Target(
                    "", "redis://away", () -> CompletableFuture.failedFuture(new IllegalStateException("away")), false);
            BackgroundConnect reopening =
                    new BackgroundConnect(away, "c", fixture.context, TIMEOUT, Optional.empty(), fixture.events);
            reopening.start();
            for (int tries = 1; tries <= 10; tries++) {
                int failed = tries;
                Await.until("it failed", NodeFixture.SOON, () -> fixture.events.troubles.size() == failed);
                RedisNodeClient before = reopening.node();
                assertThat(before.isUsable()).isFalse();
                Duration pause = Duration.ofNanos((long) Math.min(1e9, 1e8 * Math.pow(1.5, tries - 1)));
                clock.advance(pause.minusMillis(1));
                assertThat(reopening.node()).as("pause %d", tries).isSameAs(before);
                clock.advance(Duration.ofMillis(1));
                assertThat(reopening.node()).as("pause %d", tries).isNotSameAs(before);
            }
            Await.until("it failed", NodeFixture.SOON, () -> fixture.events.troubles.size() == 11);
            RedisNodeClient last = reopening.node();
            reopening.close();
            clock.advance(Duration.ofMinutes(1));
            assertThat(reopening.node()).isSameAs(last);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.event.connection.DisconnectedEvent;
import io.lettuce.core.event.connection.ReconnectAttemptEvent;
import io.lettuce.core.resource.ClientResources;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class NettyChannelRegistryTest {
    /** Lettuce usually reconnects after ten milliseconds. */
    private static final Duration LONG_ENOUGH = Duration.ofSeconds(1);

    @Test
    void S16_closedChannelsAreNotReconnected() throws Exception {
        NettyChannelRegistry channels = new NettyChannelRegistry();
        ClientResources resources =
                ClientResources.builder().nettyCustomizer(channels).build();
        CountDownLatch disconnected = new CountDownLatch(1);
        AtomicInteger attempts = new AtomicInteger();
        resources.eventBus().get().subscribe(event -> {
            if (event instanceof DisconnectedEvent) {
                disconnected.countDown();
            } else if (event instanceof ReconnectAttemptEvent) {
                attempts.incrementAndGet();
            }
        });
        try (RedisTestServer server = RedisTestServer.start();
                RedisClient client = RedisClient.create(resources, server.url());
                StatefulRedisConnection<String, String> connection = client.connect()) {
            assertThat(connection.isOpen()).isTrue();
            channels.close();
            disconnected.await();
            assertThat(Await.holdsWithin(LONG_ENOUGH, () -> attempts.get() > 0)).isFalse();
        } finally {
            resources.shutdown();
        }
    }
}

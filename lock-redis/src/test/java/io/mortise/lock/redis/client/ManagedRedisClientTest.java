// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.resource.Transports;
import io.mortise.lock.redis.node.NodeFixture;
import io.mortise.lock.testkit.process.Await;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutor;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;

class ManagedRedisClientTest {
    private static final int SOON_MILLIS = 20_000;

    /** The client's threads have begun to connect, and are busy with another task when they are shut down. */
    @Test
    void S16_aConnectionThatIsBeingOpenedDoesNotOutliveItsClient() throws Exception {
        try (NodeFixture fixture = new NodeFixture();
                ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            ManagedRedisClient<RedisClient> managed = ManagedRedisClient.toServers(Optional.empty(), fixture.context);
            EventLoopGroup threads =
                    managed.client().getResources().eventLoopGroupProvider().allocate(Transports.eventLoopGroupClass());
            BlockingTasks before = new BlockingTasks(threads, EventExecutor::execute);
            before.awaitAll();
            RedisURI uri = ManagedRedisClient.uri(RedisURI.create("127.0.0.1", server.getLocalPort()), fixture.context);
            CompletableFuture<?> connecting =
                    managed.client().connectPubSubAsync(StringCodec.UTF8, uri).toCompletableFuture();
            // Registering the channel is one task, which submits another that connects it; this one comes after both.
            BlockingTasks after =
                    new BlockingTasks(threads, (thread, task) -> thread.execute(() -> thread.execute(task)));
            before.end();
            after.awaitAll();
            server.setSoTimeout(SOON_MILLIS);
            try (Socket accepted = server.accept()) {
                CompletableFuture<?> ended = managed.shutdown(Duration.ofSeconds(1));
                Await.until("all threads are shutting down", NodeFixture.SOON, threads::isShuttingDown);
                after.end();
                ended.get(20, TimeUnit.SECONDS);

                accepted.setSoTimeout(SOON_MILLIS);
                accepted.getInputStream().readAllBytes(); // reads to the end, which never comes on an open connection
            }
            assertThat(connecting).failsWithin(Duration.ofSeconds(20));
        }
    }

    /** A task for each thread that runs until {@link #end}. */
    private static final class BlockingTasks {
        private final CountDownLatch entered;
        private final CountDownLatch end = new CountDownLatch(1);

        BlockingTasks(EventLoopGroup threads, BiConsumer<EventExecutor, Runnable> execute) {
            List<EventExecutor> all = new ArrayList<>();
            threads.forEach(all::add);
            entered = new CountDownLatch(all.size());
            all.forEach(thread -> execute.accept(thread, this::block));
        }

        private void block() {
            entered.countDown();
            try {
                end.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        void awaitAll() throws InterruptedException {
            entered.await();
        }

        void end() {
            end.countDown();
        }
    }
}

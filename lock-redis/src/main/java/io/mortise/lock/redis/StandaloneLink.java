// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.MaintNotificationsConfig;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.Delay;
import io.mortise.lock.spi.BackendContext;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One server, or the master that sentinels name at each connection, by a client of our own or the application's. */
final class StandaloneLink implements RedisLink {
    private static final Logger log = LoggerFactory.getLogger(StandaloneLink.class);
    private static final int THREADS = 2; // Lettuce's least
    private static final int MOST_UNSENT = 16_384;
    private static final Duration LONGEST_RECONNECT_PAUSE = Duration.ofMillis(500);

    /** The core has waited for a whole request timeout already if the server is silent. */
    private static final Duration CLOSE_LIMIT = Duration.ofMillis(1_500);

    private final RedisNode node;
    private final String endpoints;
    private final BackendContext context;
    private final @Nullable OwnClient own;

    /** Ours to shut down. */
    private record OwnClient(RedisClient client, ClientResources resources) {
        Future<?> shutdown() {
            return client.shutdownAsync(0, CLOSE_LIMIT.toMillis(), TimeUnit.MILLISECONDS)
                    .thenCompose(ok -> {
                        CompletableFuture<Boolean> ended = new CompletableFuture<>();
                        resources
                                .shutdown(0, CLOSE_LIMIT.toMillis(), TimeUnit.MILLISECONDS)
                                .addListener(done -> ended.complete(true));
                        return ended;
                    });
        }
    }

    private StandaloneLink(RedisNode node, String endpoints, BackendContext context, @Nullable OwnClient own) {
        this.node = node;
        this.endpoints = endpoints;
        this.context = context;
        this.own = own;
    }

    static StandaloneLink open(
            RedisOptions options, String channel, BackendContext context, RedisNode.Listener listener) {
        String endpoints = options.toString();
        OwnClient own =
                options.uri().map(uri -> ownClient(uri, options, context)).orElse(null);
        RedisClient client = own != null ? own.client : options.client().orElseThrow();
        try {
            RedisNode node = FirstContact.await(
                    () -> client.connectPubSub(StringCodec.UTF8),
                    channel,
                    endpoints,
                    context,
                    options.waitReplicas(),
                    listener);
            return new StandaloneLink(node, endpoints, context, own);
        } catch (RuntimeException | Error e) {
            if (own != null) {
                own.shutdown(); // not awaited: what does not answer would not answer this either
            }
            throw e;
        }
    }

    private static OwnClient ownClient(RedisURI given, RedisOptions options, BackendContext context) {
        ClientResources resources = DefaultClientResources.builder()
                .ioThreadPoolSize(THREADS)
                .computationThreadPoolSize(THREADS)
                .reconnectDelay(
                        Delay.fullJitter(Duration.ofMillis(10), LONGEST_RECONNECT_PAUSE, 10, TimeUnit.MILLISECONDS))
                .commandLatencyRecorder(CommandLatencyRecorder.disabled())
                .build();
        RedisURI uri = new OwnUri(given);
        uri.setTimeout(context.requestTimeout()); // bounds each handshake
        uri.getSentinels().forEach(sentinel -> sentinel.setTimeout(context.requestTimeout()));
        uri.setClientName("mortise-" + context.clientId());
        RedisClient client = RedisClient.create(resources, uri);
        client.setOptions(lettuce(options.sslOptions(), context));
        return new OwnClient(client, resources);
    }

    /** Nothing hangs, and nothing is sent again behind our back: what was under way when a connection was lost fails. */
    private static ClientOptions lettuce(Optional<SslOptions> ssl, BackendContext context) {
        ClientOptions.Builder lettuce = ClientOptions.builder()
                .protocolVersion(ProtocolVersion.RESP3)
                .autoReconnect(true)
                .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
                .requestQueueSize(MOST_UNSENT)
                .timeoutOptions(TimeoutOptions.builder().timeoutCommands(false).build()) // see Deadlines
                .socketOptions(SocketOptions.builder()
                        .connectTimeout(context.requestTimeout())
                        .keepAlive(true)
                        .build())
                .maintNotificationsConfig(MaintNotificationsConfig.disabled())
                .useHashIndexQueue(false);
        ssl.ifPresent(lettuce::sslOptions);
        return lettuce.build();
    }

    @Override
    public String endpoints() {
        return endpoints;
    }

    @Override
    public RedisNode nodeOf(RedisKeys.OfLock lock) {
        return node;
    }

    @Override
    public List<RedisNode> nodes() {
        return List.of(node);
    }

    @Override
    public void close() {
        Future<?> ended = own == null ? node.close() : closeAll(own);
        Duration limit = context.requestTimeout().compareTo(CLOSE_LIMIT) < 0 ? context.requestTimeout() : CLOSE_LIMIT;
        try {
            ended.get(limit.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            log.warn("event=close-incomplete endpoints={} cause=\"{}\"", endpoints, e.toString());
        }
    }

    private Future<?> closeAll(OwnClient client) {
        node.closing();
        return client.shutdown();
    }
}

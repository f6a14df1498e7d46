// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.client;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.MaintNotificationsConfig;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.Delay;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A Lettuce client that Mortise creates, configures and shuts down. Its options ensure that no call hangs and that Lettuce
 * sends no request twice.
 */
public final class ManagedRedisClient<C extends AbstractRedisClient> {
    private static final int THREADS = 2; // Lettuce's minimum
    private static final int MOST_UNSENT = 16_384;
    private static final Duration SHORTEST_HANDSHAKE = Duration.ofSeconds(1);
    private static final Duration LONGEST_RECONNECT_PAUSE = Duration.ofMillis(500);

    private final C client;
    private final ClientResources resources;
    private final NettyChannelRegistry channels;

    private ManagedRedisClient(C client, ClientResources resources, NettyChannelRegistry channels) {
        this.client = client;
        this.resources = resources;
        this.channels = channels;
    }

    /** Creates a client for servers that share its threads; each connection names its server by a {@link #uri}. */
    public static ManagedRedisClient<RedisClient> toServers(Optional<SslOptions> ssl, BackendContext context) {
        NettyChannelRegistry channels = new NettyChannelRegistry();
        ClientResources resources = resources(channels);
        RedisClient client = new AsyncOnlyRedisClient(resources);
        client.setOptions(clientOptions(ssl, context.requestTimeout()));
        return new ManagedRedisClient<>(client, resources, channels);
    }

    /**
     * Creates a client for a cluster.
     *
     * @param uris the URIs of some nodes of the cluster
     */
    public static ManagedRedisClient<RedisClusterClient> toCluster(
            List<RedisURI> uris, Optional<SslOptions> ssl, BackendContext context) {
        NettyChannelRegistry channels = new NettyChannelRegistry();
        ClientResources resources = resources(channels);
        List<RedisURI> copies = new ArrayList<>();
        uris.forEach(uri -> copies.add(uri(uri, context)));
        RedisClusterClient client = RedisClusterClient.create(resources, copies);
        client.setOptions(ClusterClientOptions.builder(clientOptions(ssl, context.requestTimeout()))
                .topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
                        .disableAllAdaptiveRefreshTriggers() // the backend refreshes the topology itself
                        .build())
                .build());
        return new ManagedRedisClient<>(client, resources, channels);
    }

    private static ClientResources resources(NettyChannelRegistry channels) {
        return DefaultClientResources.builder()
                .ioThreadPoolSize(THREADS)
                .computationThreadPoolSize(THREADS)
                .reconnectDelay(
                        Delay.fullJitter(Duration.ofMillis(10), LONGEST_RECONNECT_PAUSE, 10, TimeUnit.MILLISECONDS))
                .commandLatencyRecorder(CommandLatencyRecorder.disabled())
                .nettyCustomizer(channels)
                .build();
    }

    /** Returns a copy of the URI with Mortise's timeouts and a client name that operators see in CLIENT LIST. */
    public static MasterLookupRedisUri uri(RedisURI original, BackendContext context) {
        MasterLookupRedisUri uri = new MasterLookupRedisUri(original);
        uri.setTimeout(handshake(context.requestTimeout()));
        uri.getSentinels().forEach(sentinel -> sentinel.setTimeout(handshake(context.requestTimeout())));
        uri.setClientName("mortise-" + context.clientId());
        return uri;
    }

    /** Returns Lettuce options with RESP3 under which requests fail when the connection is lost. */
    public static ClientOptions clientOptions(Optional<SslOptions> ssl, Duration requestTimeout) {
        ClientOptions.Builder lettuce = ClientOptions.builder()
                .protocolVersion(ProtocolVersion.RESP3)
                .autoReconnect(true)
                .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
                .requestQueueSize(MOST_UNSENT)
                .timeoutOptions(TimeoutOptions.builder().timeoutCommands(false).build()) // see RequestDeadlines
                .socketOptions(SocketOptions.builder()
                        .connectTimeout(handshake(requestTimeout))
                        .keepAlive(true)
                        .build())
                .maintNotificationsConfig(MaintNotificationsConfig.disabled())
                .useHashIndexQueue(false);
        ssl.ifPresent(lettuce::sslOptions);
        return lettuce.build();
    }

    /** Returns the timeout of TCP, TLS and handshake each; it is short, so that a recovered server is noticed soon. */
    private static Duration handshake(Duration requestTimeout) {
        return Durations.longer(requestTimeout, SHORTEST_HANDSHAKE);
    }

    /** Returns the Lettuce client. */
    public C client() {
        return client;
    }

    /** Closes the client's connections and ends its threads within this limit. */
    public CompletableFuture<?> shutdown(Duration limit) {
        CompletableFuture<Boolean> ended = new CompletableFuture<>();
        channels.close();
        client.shutdownAsync(0, limit.toMillis(), TimeUnit.MILLISECONDS)
                .whenComplete((ok, failure) -> resources
                        .shutdown(0, limit.toMillis(), TimeUnit.MILLISECONDS)
                        .addListener(done -> ended.complete(true)));
        return ended;
    }
}

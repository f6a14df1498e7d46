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
 * A Lettuce client that Mortise creates and shuts down, configured so that nothing hangs and nothing is sent twice. Nothing in
 * it hangs, and nothing is sent again behind our back.
 */
public final class ManagedRedisClient<C extends AbstractRedisClient> {
    private static final int THREADS = 2; // Lettuce's least
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

    /** For servers that are named when they are connected to, by {@link #uri}; all share its threads. */
    public static ManagedRedisClient<RedisClient> toServers(Optional<SslOptions> ssl, BackendContext context) {
        NettyChannelRegistry channels = new NettyChannelRegistry();
        ClientResources resources = resources(channels);
        RedisClient client = new AsyncOnlyRedisClient(resources);
        client.setOptions(lettuce(ssl, context.requestTimeout()));
        return new ManagedRedisClient<>(client, resources, channels);
    }

    /** For a cluster, some of whose nodes these are. */
    public static ManagedRedisClient<RedisClusterClient> toCluster(
            List<RedisURI> uris, Optional<SslOptions> ssl, BackendContext context) {
        NettyChannelRegistry channels = new NettyChannelRegistry();
        ClientResources resources = resources(channels);
        List<RedisURI> mine = new ArrayList<>();
        uris.forEach(uri -> mine.add(uri(uri, context)));
        RedisClusterClient client = RedisClusterClient.create(resources, mine);
        client.setOptions(ClusterClientOptions.builder(lettuce(ssl, context.requestTimeout()))
                .topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
                        .disableAllAdaptiveRefreshTriggers() // the backend asks for a new view when one is due
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

    /** A copy with our timeouts and the name by which an operator knows the connection; of a server, or sentinels that know it. */
    public static AddressLookupRedisUri uri(RedisURI given, BackendContext context) {
        AddressLookupRedisUri uri = new AddressLookupRedisUri(given);
        uri.setTimeout(handshake(context.requestTimeout()));
        uri.getSentinels().forEach(sentinel -> sentinel.setTimeout(handshake(context.requestTimeout())));
        uri.setClientName("mortise-" + context.clientId());
        return uri;
    }

    /** RESP3, and what was under way when a connection was lost fails. */
    public static ClientOptions lettuce(Optional<SslOptions> ssl, Duration requestTimeout) {
        ClientOptions.Builder lettuce = ClientOptions.builder()
                .protocolVersion(ProtocolVersion.RESP3)
                .autoReconnect(true)
                .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
                .requestQueueSize(MOST_UNSENT)
                .timeoutOptions(TimeoutOptions.builder().timeoutCommands(false).build()) // see Deadlines
                .socketOptions(SocketOptions.builder()
                        .connectTimeout(handshake(requestTimeout))
                        .keepAlive(true)
                        .build())
                .maintNotificationsConfig(MaintNotificationsConfig.disabled())
                .useHashIndexQueue(false);
        ssl.ifPresent(lettuce::sslOptions);
        return lettuce.build();
    }

    /** What TCP, TLS and handshake may take, each; short, so that a server that is back is noticed soon. */
    private static Duration handshake(Duration requestTimeout) {
        return Durations.longer(requestTimeout, SHORTEST_HANDSHAKE);
    }

    /** Lettuce's. */
    public C client() {
        return client;
    }

    /** Ends its connections and threads, within that time. */
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

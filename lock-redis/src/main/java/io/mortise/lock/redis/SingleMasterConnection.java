// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.redis.admin.EvictionCheck;
import io.mortise.lock.redis.admin.ReadOnlyReplicaCheck;
import io.mortise.lock.redis.client.AddressLookupRedisUri;
import io.mortise.lock.redis.client.ManagedRedisClient;
import io.mortise.lock.redis.connect.InitialConnection;
import io.mortise.lock.redis.node.NodeListener;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redis.sentinel.SentinelGroup;
import io.mortise.lock.redis.sentinel.SentinelMasterConfirmation;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.support.BoundedCloseWait;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** The connection to one server, or to the master that the sentinels name. */
final class SingleMasterConnection implements RedisConnections {
    private static final CompletionStage<@Nullable Void> DONE = CompletableFuture.completedFuture(null);

    private final RedisNodeClient node;
    private final String server;
    private final String channel;
    private final BackendContext context;
    private final @Nullable ManagedRedisClient<RedisClient> own;
    private final Optional<SentinelMasterConfirmation> sentinels;

    private SingleMasterConnection(
            RedisNodeClient node,
            String server,
            String channel,
            BackendContext context,
            @Nullable ManagedRedisClient<RedisClient> own,
            Optional<SentinelMasterConfirmation> sentinels) {
        this.sentinels = sentinels;
        this.node = node;
        this.server = server;
        this.channel = channel;
        this.context = context;
        this.own = own;
    }

    static SingleMasterConnection open(
            RedisOptions options, String channel, BackendContext context, NodeListener listener) {
        String endpoints = options.toString();
        AddressLookupRedisUri uri = options.uri()
                .map(given -> ManagedRedisClient.uri(given, context))
                .orElse(null);
        ManagedRedisClient<RedisClient> own =
                uri == null ? null : ManagedRedisClient.toServers(options.sslOptions(), context);
        RedisClient client = own != null ? own.client() : options.client().orElseThrow();
        if (!client.getOptions().isAutoReconnect()) {
            throw new LockConfigurationException(
                    "the application's RedisClient has autoReconnect(false): its first lost connection would be its last");
        }
        Optional<SentinelGroup> sentinels = sentinels(uri, client, context);
        try {
            RedisNodeClient node = InitialConnection.await(
                    () -> {
                        RedisNodeClient opened = new RedisNodeClient(
                                new RedisNodeClient.Target("", endpoints, () -> connect(client, uri), true),
                                context,
                                context.requestTimeout(),
                                options.waitReplicas(),
                                listener);
                        return opened.start(channel)
                                .thenCompose(ok -> isOneServer(uri) ? ReadOnlyReplicaCheck.refuse(opened) : DONE)
                                .thenApply(ok -> opened);
                    },
                    RedisNodeClient::close,
                    servers(uri),
                    endpoints,
                    context);
            EvictionCheck.warn(node);
            Optional<SentinelMasterConfirmation> quorum =
                    sentinels.map(all -> new SentinelMasterConfirmation(all, context));
            quorum.ifPresent(
                    ask -> ask.named(node, options.leaseDuration())); // its connections are there for the first grant
            return new SingleMasterConnection(node, options.servers(), channel, context, own, quorum);
        } catch (RuntimeException | Error e) {
            if (own != null) {
                own.shutdown(BoundedCloseWait.LIMIT); // not awaited: what does not answer would not answer this either
            }
            throw e;
        }
    }

    /** Always the same one: elsewhere a replica that is met means that the master changes just now. */
    private static boolean isOneServer(@Nullable RedisURI uri) {
        return uri != null && uri.getSentinels().isEmpty();
    }

    /** Those that name the master, if any; each connection leads to the one that they name then. */
    private static Optional<SentinelGroup> sentinels(
            @Nullable AddressLookupRedisUri uri, RedisClient client, BackendContext context) {
        if (uri == null || uri.getSentinels().isEmpty()) {
            return Optional.empty();
        }
        SentinelGroup sentinels = new SentinelGroup(client, uri, context);
        uri.lookUpBy(sentinels::masterAddress);
        return Optional.of(sentinels);
    }

    /** Those that are connected to first. */
    private static List<RedisURI> servers(@Nullable RedisURI uri) {
        return uri == null ? List.of() : uri.getSentinels().isEmpty() ? List.of(uri) : uri.getSentinels();
    }

    /** @param uri null: the application's client has one of its own */
    private static CompletionStage<StatefulRedisPubSubConnection<String, String>> connect(
            RedisClient client, @Nullable RedisURI uri) {
        return CompletableFuture.completedFuture(
                uri == null ? client.connectPubSub(StringCodec.UTF8) : client.connectPubSub(StringCodec.UTF8, uri));
    }

    @Override
    public String endpoints() {
        return node.endpoints();
    }

    @Override
    public RedisNodeClient nodeOf(RedisKeyLayout.OfLock lock) {
        return node;
    }

    @Override
    public String listen(RedisNodeClient at, RedisKeyLayout.OfLock lock) {
        return channel;
    }

    @Override
    public Map<String, RedisNodeClient> servers() {
        return Map.of(server, node);
    }

    @Override
    public Optional<SentinelMasterConfirmation> sentinels() {
        return sentinels;
    }

    @Override
    public void close() {
        node.closing();
        sentinels.ifPresent(SentinelMasterConfirmation::close);
        Future<?> ended = own == null ? node.close() : own.shutdown(BoundedCloseWait.LIMIT);
        BoundedCloseWait.await(ended, context.requestTimeout(), "endpoints=" + endpoints());
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.redis.admin.EvictionCheck;
import io.mortise.lock.redis.admin.ReadOnlyReplicaRefusal;
import io.mortise.lock.redis.client.ManagedRedisClient;
import io.mortise.lock.redis.client.MasterLookupRedisUri;
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

/** Holds the connection to a single Redis server, or to the master that sentinels name. */
final class SingleMasterConnection implements RedisConnectionRouter {
    private static final CompletionStage<@Nullable Void> DONE = CompletableFuture.completedFuture(null);

    private final RedisNodeClient node;
    private final String server;
    private final String channel;
    private final BackendContext context;
    private final @Nullable ManagedRedisClient<RedisClient> managed;
    private final Optional<SentinelGroup> group;
    private final Optional<SentinelMasterConfirmation> sentinels;

    private SingleMasterConnection(
            RedisNodeClient node,
            String server,
            String channel,
            BackendContext context,
            @Nullable ManagedRedisClient<RedisClient> managed,
            Optional<SentinelGroup> group,
            Optional<SentinelMasterConfirmation> sentinels) {
        this.group = group;
        this.sentinels = sentinels;
        this.node = node;
        this.server = server;
        this.channel = channel;
        this.context = context;
        this.managed = managed;
    }

    static SingleMasterConnection open(
            RedisOptions options, String channel, BackendContext context, NodeListener listener) {
        String endpoints = options.toString();
        MasterLookupRedisUri uri = options.uri()
                .map(original -> ManagedRedisClient.uri(original, context))
                .orElse(null);
        ManagedRedisClient<RedisClient> managed =
                uri == null ? null : ManagedRedisClient.toServers(options.sslOptions(), context);
        RedisClient client =
                managed != null ? managed.client() : options.client().orElseThrow();
        if (!client.getOptions().isAutoReconnect()) {
            throw new LockConfigurationException(
                    "the application's RedisClient has autoReconnect(false): after the first lost connection no lock could"
                            + " be acquired or renewed. Set autoReconnect(true)");
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
                                .thenCompose(ok -> isFixedServer(uri) ? ReadOnlyReplicaRefusal.refuse(opened) : DONE)
                                .thenApply(ok -> opened);
                    },
                    RedisNodeClient::close,
                    servers(uri),
                    endpoints,
                    context);
            EvictionCheck.warn(node);
            Optional<SentinelMasterConfirmation> confirmation =
                    sentinels.map(all -> new SentinelMasterConfirmation(all, context));
            confirmation.ifPresent(it -> it.confirm(
                    node, node.epoch(), options.leaseDuration())); // connects to the sentinels before the first grant
            return new SingleMasterConnection(
                    node, options.servers(), channel, context, managed, sentinels, confirmation);
        } catch (RuntimeException | Error e) {
            if (managed != null) {
                sentinels.ifPresent(SentinelGroup::announceClose);
                managed.shutdown(
                        BoundedCloseWait.LIMIT); // not awaited: a server that does not respond would delay this too
            }
            throw e;
        }
    }

    /**
     * Returns whether the connection always leads to the same server. Behind sentinels, a replica only means that a failover
     * is in progress.
     */
    private static boolean isFixedServer(@Nullable RedisURI uri) {
        return uri != null && uri.getSentinels().isEmpty();
    }

    /** Returns the sentinels in the URI, if any, and makes each new connection lead to the master that they name then. */
    private static Optional<SentinelGroup> sentinels(
            @Nullable MasterLookupRedisUri uri, RedisClient client, BackendContext context) {
        if (uri == null || uri.getSentinels().isEmpty()) {
            return Optional.empty();
        }
        SentinelGroup sentinels = new SentinelGroup(client, uri, context);
        uri.lookUpBy(sentinels::masterAddress);
        return Optional.of(sentinels);
    }

    /** Returns the servers to which the first connection is opened: the sentinels, if there are any. */
    private static List<RedisURI> servers(@Nullable RedisURI uri) {
        return uri == null ? List.of() : uri.getSentinels().isEmpty() ? List.of(uri) : uri.getSentinels();
    }

    /** @param uri the server's URI; null for an application-supplied client, which has its own */
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
        node.announceClose();
        group.ifPresent(SentinelGroup::announceClose);
        Future<?> ended = managed == null ? node.close() : managed.shutdown(BoundedCloseWait.LIMIT);
        BoundedCloseWait.await(ended, context.requestTimeout(), "endpoints=" + endpoints());
    }
}

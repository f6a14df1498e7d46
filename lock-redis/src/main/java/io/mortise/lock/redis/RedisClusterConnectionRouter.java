// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.lettuce.core.RedisException;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.cluster.pubsub.StatefulRedisClusterPubSubConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.mortise.lock.redis.admin.EvictionCheck;
import io.mortise.lock.redis.client.ManagedRedisClient;
import io.mortise.lock.redis.client.RedisErrors;
import io.mortise.lock.redis.connect.InitialConnection;
import io.mortise.lock.redis.node.NodeListener;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.support.BoundedCloseWait;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Routes requests to the masters of a Redis Cluster, over one connection to each master that stores locks of this client. See ADR 0018. */
final class RedisClusterConnectionRouter implements RedisConnectionRouter, NodeListener {
    /** Lettuce's message for a connection that it has closed permanently, as when a node has left the cluster. */
    private static final String CLOSED = "Connection is closed";

    private final RedisOptions options;
    private final BackendContext context;
    private final RedisKeyLayout keys;
    private final NodeListener listener;
    private final String endpoints;
    private final RedisClusterClient client;
    private final @Nullable ManagedRedisClient<RedisClusterClient> managed;
    private final ClusterTopologyRefresher topology;
    private final Map<String, RedisNodeClient> nodes = new ConcurrentHashMap<>();
    private final AtomicInteger connections = new AtomicInteger();
    private volatile @Nullable StatefulRedisClusterPubSubConnection<String, String> hub;
    private volatile boolean closed;

    /** Listener that is also notified when locks may have moved to another node. */
    interface Listener extends NodeListener {
        /** Called when locks may have moved to another node. */
        void rerouted();
    }

    @SuppressWarnings("this-escape") // the listener is not called before a node is opened
    private RedisClusterConnectionRouter(
            RedisOptions options,
            RedisKeyLayout keys,
            BackendContext context,
            @Nullable ManagedRedisClient<RedisClusterClient> managed,
            Listener listener) {
        this.options = options;
        this.context = context;
        this.keys = keys;
        this.listener = listener;
        this.endpoints = options.toString();
        this.managed = managed;
        this.client =
                managed != null ? managed.client() : options.clusterClient().orElseThrow();
        this.topology = new ClusterTopologyRefresher(client, context.clock(), this::allConnected, listener::rerouted);
    }

    static RedisClusterConnectionRouter open(
            RedisOptions options, RedisKeyLayout keys, BackendContext context, Listener listener) {
        ManagedRedisClient<RedisClusterClient> managed = options.clusterUris().isEmpty()
                ? null
                : ManagedRedisClient.toCluster(options.clusterUris(), options.sslOptions(), context);
        RedisClusterConnectionRouter cluster =
                new RedisClusterConnectionRouter(options, keys, context, managed, listener);
        try {
            InitialConnection.await(
                    cluster::connect, hub -> hub.closeAsync(), options.clusterUris(), cluster.endpoints, context);
            return cluster;
        } catch (RuntimeException | Error e) {
            cluster.end();
            throw e;
        }
    }

    /** Connects to the cluster and to at least one of its masters. */
    private CompletionStage<StatefulRedisClusterPubSubConnection<String, String>> connect() {
        StatefulRedisClusterPubSubConnection<String, String> connected = client.connectPubSub(StringCodec.UTF8);
        hub = connected;
        CompletableFuture<StatefulRedisClusterPubSubConnection<String, String>> connecting = new CompletableFuture<>();
        tryNext(masters().iterator(), new RedisException("no node of the cluster has a slot"), connecting, connected);
        return connecting.whenComplete((ok, failure) -> {
            if (failure != null) {
                connected.closeAsync(); // the next try opens another
            }
        });
    }

    private <T> void tryNext(
            Iterator<RedisClusterNode> masters, Throwable last, CompletableFuture<T> connecting, T connected) {
        if (!masters.hasNext()) {
            connecting.completeExceptionally(last);
            return;
        }
        node(masters.next()).whenOpen(failure -> {
            if (failure == null) {
                connecting.complete(connected);
            } else {
                tryNext(masters, failure, connecting, connected);
            }
        });
    }

    @Override
    public String endpoints() {
        return endpoints;
    }

    @Override
    public RedisNodeClient nodeOf(RedisKeyLayout.OfLock lock) {
        RedisClusterNode master = client.getPartitions().getMasterBySlot(lock.slot());
        if (master == null) {
            topology.refresh();
            return failedNode("CLUSTERDOWN no master serves slot " + lock.slot());
        }
        return node(master);
    }

    /** Returns the client of this master. It is started outside the map, which a connection that fails at once changes. */
    private RedisNodeClient node(RedisClusterNode master) {
        RedisNodeClient known = nodes.get(master.getNodeId());
        if (known != null) {
            return known;
        }
        RedisNodeClient created = newNode(
                master.getNodeId(),
                endpoints + " (" + address(master) + ")",
                () -> connection(master.getNodeId()),
                this);
        RedisNodeClient other = nodes.putIfAbsent(master.getNodeId(), created);
        if (other != null) {
            return other;
        }
        // Each node gets its own channel, since the cluster bus carries a published message to all nodes, and so to all
        // our
        // connections.
        created.start(keys.channel(context.clientId()) + ":" + connections.incrementAndGet());
        return created;
    }

    private static String address(RedisClusterNode node) {
        return node.getUri().getHost() + ":" + node.getUri().getPort();
    }

    private CompletionStage<StatefulRedisPubSubConnection<String, String>> connection(String nodeId) {
        StatefulRedisClusterPubSubConnection<String, String> current = hub;
        return current == null || closed
                ? CompletableFuture.failedFuture(new RedisException(CLOSED))
                : current.getConnectionAsync(nodeId);
    }

    /** Returns a client that fails every request with this reason. */
    private RedisNodeClient failedNode(String why) {
        RedisNodeClient none =
                newNode("", endpoints, () -> CompletableFuture.failedFuture(new RedisException(why)), listener);
        none.start("");
        return none;
    }

    private RedisNodeClient newNode(
            String id,
            String at,
            Supplier<CompletionStage<StatefulRedisPubSubConnection<String, String>>> connect,
            NodeListener nodeListener) {
        return new RedisNodeClient(
                new RedisNodeClient.Target(id, at, connect, true),
                context,
                context.requestTimeout(),
                options.waitReplicas(),
                nodeListener);
    }

    /** Uses a sharded channel if the server supports it: its messages stay on that node and its replicas. */
    @Override
    public String listen(RedisNodeClient at, RedisKeyLayout.OfLock lock) {
        if (!at.supportsShardedChannels()) {
            return at.channel();
        }
        String channel = keys.shardChannel(lock, context.clientId());
        at.subscribe(channel);
        return RedisKeyLayout.SHARDED + channel;
    }

    @Override
    public Map<String, RedisNodeClient> servers() {
        Map<String, RedisNodeClient> servers = new LinkedHashMap<>();
        masters().forEach(master -> servers.put(address(master), node(master)));
        return servers;
    }

    private List<RedisClusterNode> masters() {
        return client.getPartitions().stream()
                .filter(node -> node.is(RedisClusterNode.NodeFlag.UPSTREAM) && !node.hasNoSlots())
                .sorted(Comparator.comparing(RedisClusterNode::getNodeId))
                .toList();
    }

    @Override
    public void onMessage(RedisNodeClient from, String text) {
        listener.onMessage(from, text);
    }

    @Override
    public void onSubscribed(RedisNodeClient node) {
        listener.onSubscribed(node);
    }

    @Override
    public void onOpened(RedisNodeClient node) {
        EvictionCheck.warn(node);
    }

    /** Refreshes the topology, because another node may be the master now, or serve the slot. */
    @Override
    public void onFailure(RedisNodeClient node, Throwable cause) {
        if (!node.isUsable() || CLOSED.equals(cause.getMessage())) {
            nodes.remove(node.id(), node);
        }
        if (!closed && RedisErrors.mayHaveMoved(cause)) {
            topology.refresh();
        }
    }

    /** Returns whether all masters that this client has used are connected now. */
    private boolean allConnected() {
        nodes.keySet().removeIf(id -> client.getPartitions().getPartitionByNodeId(id) == null);
        return masters().stream()
                .map(node -> nodes.get(node.getNodeId()))
                .allMatch(node -> node == null || node.isConnected());
    }

    @Override
    public void close() {
        nodes.values().forEach(RedisNodeClient::announceClose);
        BoundedCloseWait.await(end(), context.requestTimeout(), "endpoints=" + endpoints);
    }

    private Future<?> end() {
        closed = true;
        CompletableFuture<?> refreshed = topology.close();
        StatefulRedisClusterPubSubConnection<String, String> connected = hub;
        CompletableFuture<Void> ended =
                connected == null ? CompletableFuture.completedFuture(null) : connected.closeAsync();
        // This order matters: the client would otherwise close again what is closed already, and log errors.
        return managed == null
                ? ended
                : refreshed
                        .thenCombine(ended.handle((ok, failure) -> managed), (ok, toEnd) -> toEnd)
                        .thenCompose(toEnd -> toEnd.shutdown(BoundedCloseWait.LIMIT));
    }
}

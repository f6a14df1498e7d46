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

/** Connections to the masters of a cluster, one to each that has locks of this client (ADR 0018). */
final class ClusterConnections implements RedisConnections, NodeListener {
    /** What Lettuce says of a connection that it has closed for good, as to a node that is no longer in the cluster. */
    private static final String CLOSED = "Connection is closed";

    private final RedisOptions options;
    private final BackendContext context;
    private final RedisKeyLayout keys;
    private final NodeListener listener;
    private final String endpoints;
    private final RedisClusterClient client;
    private final @Nullable ManagedRedisClient<RedisClusterClient> own;
    private final ClusterTopologyRefresher topology;
    private final Map<String, RedisNodeClient> nodes = new ConcurrentHashMap<>();
    private final AtomicInteger connections = new AtomicInteger();
    private volatile @Nullable StatefulRedisClusterPubSubConnection<String, String> hub;
    private volatile boolean closed;

    /** Told, besides, when locks may have moved to another node. */
    interface Listener extends NodeListener {
        void rerouted();
    }

    @SuppressWarnings("this-escape") // told only once a node is opened
    private ClusterConnections(
            RedisOptions options,
            RedisKeyLayout keys,
            BackendContext context,
            @Nullable ManagedRedisClient<RedisClusterClient> own,
            Listener listener) {
        this.options = options;
        this.context = context;
        this.keys = keys;
        this.listener = listener;
        this.endpoints = options.toString();
        this.own = own;
        this.client = own != null ? own.client() : options.clusterClient().orElseThrow();
        this.topology = new ClusterTopologyRefresher(client, context.clock(), this::isWhole, listener::rerouted);
    }

    static ClusterConnections open(
            RedisOptions options, RedisKeyLayout keys, BackendContext context, Listener listener) {
        ManagedRedisClient<RedisClusterClient> own = options.clusterUris().isEmpty()
                ? null
                : ManagedRedisClient.toCluster(options.clusterUris(), options.sslOptions(), context);
        ClusterConnections link = new ClusterConnections(options, keys, context, own, listener);
        try {
            InitialConnection.await(
                    link::connect, hub -> hub.closeAsync(), options.clusterUris(), link.endpoints, context);
            return link;
        } catch (RuntimeException | Error e) {
            link.end();
            throw e;
        }
    }

    /** To the cluster, and to one master at least. */
    private CompletionStage<StatefulRedisClusterPubSubConnection<String, String>> connect() {
        StatefulRedisClusterPubSubConnection<String, String> connected = client.connectPubSub(StringCodec.UTF8);
        hub = connected;
        CompletableFuture<StatefulRedisClusterPubSubConnection<String, String>> connecting = new CompletableFuture<>();
        tryNext(masters().iterator(), new RedisException("no node of the cluster has a slot"), connecting, connected);
        return connecting.whenComplete((ok, failure) -> {
            if (failure != null) {
                connected.closeAsync(); // the next try makes another
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
            return nowhere("CLUSTERDOWN nobody serves slot " + lock.slot());
        }
        return node(master);
    }

    /** Started outside the map: a connection that fails at once takes its node out again. */
    private RedisNodeClient node(RedisClusterNode master) {
        RedisNodeClient known = nodes.get(master.getNodeId());
        if (known != null) {
            return known;
        }
        RedisNodeClient fresh = newNode(
                master.getNodeId(),
                endpoints + " (" + address(master) + ")",
                () -> connection(master.getNodeId()),
                this);
        RedisNodeClient other = nodes.putIfAbsent(master.getNodeId(), fresh);
        if (other != null) {
            return other;
        }
        // Its own: the bus of a cluster carries what is published to all nodes, and so to all our connections.
        fresh.start(keys.channel(context.clientId()) + ":" + connections.incrementAndGet());
        return fresh;
    }

    private static String address(RedisClusterNode node) {
        return node.getUri().getHost() + ":" + node.getUri().getPort();
    }

    private CompletionStage<StatefulRedisPubSubConnection<String, String>> connection(String nodeId) {
        StatefulRedisClusterPubSubConnection<String, String> by = hub;
        return by == null || closed
                ? CompletableFuture.failedFuture(new RedisException(CLOSED))
                : by.getConnectionAsync(nodeId);
    }

    private RedisNodeClient nowhere(String why) {
        RedisNodeClient none =
                newNode("", endpoints, () -> CompletableFuture.failedFuture(new RedisException(why)), listener);
        none.start("");
        return none;
    }

    private RedisNodeClient newNode(
            String id,
            String at,
            Supplier<CompletionStage<StatefulRedisPubSubConnection<String, String>>> connect,
            NodeListener told) {
        return new RedisNodeClient(
                new RedisNodeClient.Target(id, at, connect, true),
                context,
                context.requestTimeout(),
                options.waitReplicas(),
                told);
    }

    /** Sharded where the server can: what is published then stays on that node and its replicas. */
    @Override
    public String listen(RedisNodeClient at, RedisKeyLayout.OfLock lock) {
        if (!at.sharded()) {
            return at.channel();
        }
        String channel = keys.shardChannel(lock, context.clientId());
        at.listen(channel);
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
    public void message(RedisNodeClient from, String text) {
        listener.message(from, text);
    }

    @Override
    public void listening(RedisNodeClient node) {
        listener.listening(node);
    }

    @Override
    public void opened(RedisNodeClient node) {
        EvictionCheck.warn(node);
    }

    /** Another may be the master now, or serve the slot. */
    @Override
    public void trouble(RedisNodeClient node, Throwable cause) {
        if (!node.isUsable() || CLOSED.equals(cause.getMessage())) {
            nodes.remove(node.id(), node);
        }
        if (!closed && RedisErrors.mayHaveMoved(cause)) {
            topology.refresh();
        }
    }

    /** Whether all masters that we have asked can be asked now. */
    private boolean isWhole() {
        nodes.keySet().removeIf(id -> client.getPartitions().getPartitionByNodeId(id) == null);
        return masters().stream()
                .map(node -> nodes.get(node.getNodeId()))
                .allMatch(node -> node == null || node.isConnected());
    }

    @Override
    public void close() {
        nodes.values().forEach(RedisNodeClient::closing);
        BoundedCloseWait.await(end(), context.requestTimeout(), "endpoints=" + endpoints);
    }

    private Future<?> end() {
        closed = true;
        CompletableFuture<?> quiet = topology.close();
        StatefulRedisClusterPubSubConnection<String, String> connected = hub;
        CompletableFuture<Void> ended =
                connected == null ? CompletableFuture.completedFuture(null) : connected.closeAsync();
        // In this order: the client would end once more what others have ended, and complain.
        return own == null
                ? ended
                : quiet.thenCombine(ended.handle((ok, failure) -> own), (ok, mine) -> mine)
                        .thenCompose(mine -> mine.shutdown(BoundedCloseWait.LIMIT));
    }
}

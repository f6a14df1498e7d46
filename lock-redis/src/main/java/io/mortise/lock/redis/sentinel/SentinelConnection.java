// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.sentinel;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.ListOfMapsOutput;
import io.lettuce.core.output.ValueListOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.mortise.lock.redis.node.ServerInfo;
import io.mortise.lock.redis.sentinel.SentinelReply.HostAndPort;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A connection to one sentinel, opened on the first query and closed when the sentinel fails to respond. A lost connection is
 * replaced at the next query. Thread-safe.
 */
public final class SentinelConnection implements RedisConnectionStateListener {
    private final RedisClient client;
    private final RedisURI uri;
    private final Executor blocking;

    @GuardedBy("this")
    private @Nullable CompletableFuture<Opened> opened;

    @GuardedBy("this")
    private int closed;

    private record Opened(StatefulRedisPubSubConnection<String, String> connection, String runId) {}

    /**
     * @param uri the sentinel's URI with its credentials and TLS
     * @param blocking the executor for lookups of host names
     */
    public SentinelConnection(RedisClient client, RedisURI uri, Executor blocking) {
        this.client = client;
        this.uri = uri;
        this.blocking = blocking;
    }

    String endpoint() {
        return uri.getHost() + ":" + uri.getPort();
    }

    /**
     * Queries the address of the master with this name. If a connection of an earlier query was lost unnoticed, the query is
     * repeated on a new one.
     */
    public CompletionStage<SentinelReply> query(String master) {
        int closedBefore;
        @Nullable CompletableFuture<Opened> earlier;
        synchronized (this) {
            closedBefore = closed;
            earlier = opened != null && opened.isDone() ? opened : null;
        }
        return send(master)
                .exceptionallyCompose(failure -> {
                    boolean replied = failure.getCause() instanceof RedisCommandExecutionException;
                    if (replied || earlier == null || isClosedSince(closedBefore)) {
                        return CompletableFuture.failedFuture(failure);
                    }
                    discard(earlier);
                    return send(master);
                })
                .thenCompose(this::resolved);
    }

    private CompletionStage<Reply> send(String master) {
        return open().thenCompose(to -> {
            CompletionStage<List<String>> address = to.connection
                    .async()
                    .dispatch(
                            CommandType.SENTINEL,
                            new ValueListOutput<>(StringCodec.UTF8),
                            new CommandArgs<>(StringCodec.UTF8)
                                    .add("GET-MASTER-ADDR-BY-NAME")
                                    .add(master));
            CompletionStage<List<Map<String, String>>> others = to.connection
                    .async()
                    .dispatch(
                            CommandType.SENTINEL,
                            new ListOfMapsOutput<>(StringCodec.UTF8),
                            new CommandArgs<>(StringCodec.UTF8).add("SENTINELS").add(master));
            return address.thenCompose(named -> named.size() < 2
                    ? CompletableFuture.failedFuture(
                            new RedisException("the sentinel knows no master " + master)) // may be configured later
                    : others.thenApply(known -> new Reply(to.runId, named, known)));
        });
    }

    private record Reply(String runId, List<String> named, List<Map<String, String>> known) {}

    private CompletionStage<SentinelReply> resolved(Reply reply) {
        String host = reply.named.get(0);
        boolean literal = host.indexOf(':') >= 0 || host.matches("[0-9.]+");
        return literal
                ? CompletableFuture.completedFuture(answer(reply, host))
                : CompletableFuture.supplyAsync(() -> answer(reply, host), blocking);
    }

    private static SentinelReply answer(Reply reply, String host) {
        try {
            int port = Integer.parseInt(reply.named.get(1));
            Set<HostAndPort> others = reply.known.stream()
                    .map(one -> new HostAndPort(
                            String.valueOf(one.get("ip")), Integer.parseInt(String.valueOf(one.get("port")))))
                    .collect(Collectors.toUnmodifiableSet());
            return new SentinelReply(
                    reply.runId, host + ":" + port, Set.of(InetAddress.getAllByName(host)), port, others);
        } catch (UnknownHostException e) {
            throw new CompletionException(e);
        }
    }

    private CompletableFuture<Opened> open() {
        CompletableFuture<Opened> opening = new CompletableFuture<>();
        synchronized (this) {
            CompletableFuture<Opened> known = opened;
            if (known != null && !known.isCompletedExceptionally()) {
                return known;
            }
            opened = opening;
        }
        try {
            connect().whenComplete((to, failure) -> {
                if (failure == null) {
                    opening.complete(to);
                } else {
                    opening.completeExceptionally(failure);
                }
            });
        } catch (RuntimeException e) {
            opening.completeExceptionally(e);
        }
        return opening;
    }

    private CompletableFuture<Opened> connect() {
        return client.connectPubSubAsync(StringCodec.UTF8, uri)
                .toCompletableFuture()
                .thenCompose(connection -> {
                    connection.addListener(this);
                    return connection
                            .async()
                            .info("server")
                            .toCompletableFuture()
                            .handle((info, failure) -> {
                                if (failure != null) {
                                    connection.closeAsync();
                                    throw new CompletionException(failure);
                                }
                                return new Opened(
                                        connection,
                                        ServerInfo.field(info, "run_id").orElse(endpoint()));
                            });
                });
    }

    @Override
    public void onRedisDisconnected(RedisChannelHandler<?, ?> handler) {
        @Nullable CompletableFuture<Opened> present;
        synchronized (this) {
            present = opened;
        }
        // The lost connection may have been discarded before, and another may be in use.
        if (present != null
                && present.isDone()
                && !present.isCompletedExceptionally()
                && present.join().connection == handler) {
            discard(present);
        }
        handler.closeAsync(); // Lettuce would keep reconnecting even without queries
    }

    private synchronized boolean isClosedSince(int before) {
        return closed != before;
    }

    private void discard(CompletableFuture<Opened> known) {
        synchronized (this) {
            if (opened == known) {
                opened = null;
            }
        }
        known.thenAccept(to -> to.connection.closeAsync());
    }

    /** Closes the connection, whose pending queries fail; the next query opens another one. */
    void close() {
        @Nullable CompletableFuture<Opened> known;
        synchronized (this) {
            closed++;
            known = opened;
        }
        if (known != null) {
            discard(known);
        }
    }
}

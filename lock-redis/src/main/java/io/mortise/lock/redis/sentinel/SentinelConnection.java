// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.sentinel;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.ListOfMapsOutput;
import io.lettuce.core.output.ValueListOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.redis.connect.ServerModeCheck;
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

    @GuardedBy("this")
    private boolean clientCloses;

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
                    ? unknown(master, to.connection)
                    : others.thenApply(known -> new Reply(to.runId, named, known)));
        });
    }

    /** Fails with a message that names the masters which the sentinel knows. The master may be configured later. */
    private <T> CompletionStage<T> unknown(String master, StatefulRedisPubSubConnection<String, String> connection) {
        CompletionStage<List<Map<String, String>>> masters = connection
                .async()
                .dispatch(
                        CommandType.SENTINEL,
                        new ListOfMapsOutput<>(StringCodec.UTF8),
                        new CommandArgs<>(StringCodec.UTF8).add("MASTERS"));
        return masters.thenApply(known -> ", but "
                        + known.stream().map(one -> one.get("name")).sorted().toList())
                .exceptionally(forbidden -> "")
                .thenCompose(known -> CompletableFuture.failedFuture(new BackendUnavailableException(
                        "the sentinel " + endpoint() + " knows no master \"" + master + "\"" + known
                                + ": check the name in master=NAME",
                        endpoint(),
                        null)));
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
                    return serverInfo(connection).toCompletableFuture().handle((info, failure) -> {
                        if (failure != null) {
                            connection.closeAsync();
                            throw new CompletionException(failure);
                        }
                        return new Opened(
                                connection, ServerInfo.field(info, "run_id").orElse(endpoint()));
                    });
                });
    }

    private CompletionStage<String> serverInfo(StatefulRedisPubSubConnection<String, String> connection) {
        try {
            ServerModeCheck.requireSentinel(connection, endpoint());
        } catch (BackendRefusedException e) {
            return CompletableFuture.failedFuture(e);
        }
        return connection.async().info("server");
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
            forget(present);
        }
        close(handler); // Lettuce would keep reconnecting even without queries
    }

    private synchronized boolean isClosedSince(int before) {
        return clientCloses || closed != before;
    }

    private void discard(CompletableFuture<Opened> known) {
        forget(known);
        known.thenAccept(to -> {
            if (to.connection instanceof RedisChannelHandler<?, ?> handler) {
                close(handler);
            }
        });
    }

    private synchronized void forget(CompletableFuture<Opened> known) {
        if (opened == known) {
            opened = null;
        }
    }

    /** Closes a connection, unless that is done already or the client is about to do it: Lettuce warns of a second close. */
    private void close(RedisChannelHandler<?, ?> handler) {
        synchronized (this) {
            if (clientCloses) {
                return;
            }
        }
        if (!handler.isClosed()) {
            handler.closeAsync();
        }
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

    /** Announces that the Lettuce client is about to be shut down, which closes its connections. */
    synchronized void announceClose() {
        clientCloses = true;
    }
}

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
import io.mortise.lock.redis.sentinel.SentinelAnswer.HostAndPort;
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

/** Connection to one sentinel, opened by the first question and closed when it was lost or silent. Thread-safe. */
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
     * @param uri of the sentinel, with its credentials and TLS
     * @param blocking to look up host names
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
     * Asks for the master of that name. A connection from an earlier question may have been lost unseen: then this one is asked over
     * another.
     */
    public CompletionStage<SentinelAnswer> ask(String master) {
        int before;
        @Nullable CompletableFuture<Opened> earlier;
        synchronized (this) {
            before = closed;
            earlier = opened != null && opened.isDone() ? opened : null;
        }
        return said(master)
                .exceptionallyCompose(failure -> {
                    boolean answered = failure.getCause() instanceof RedisCommandExecutionException;
                    if (answered || earlier == null || isClosedSince(before)) {
                        return CompletableFuture.failedFuture(failure);
                    }
                    leave(earlier);
                    return said(master);
                })
                .thenCompose(this::resolved);
    }

    private CompletionStage<Said> said(String master) {
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
                            new RedisException("it knows no master " + master)) // it may be told of it yet
                    : others.thenApply(known -> new Said(to.runId, named, known)));
        });
    }

    private record Said(String runId, List<String> named, List<Map<String, String>> known) {}

    private CompletionStage<SentinelAnswer> resolved(Said said) {
        String host = said.named.get(0);
        boolean literal = host.indexOf(':') >= 0 || host.matches("[0-9.]+");
        return literal
                ? CompletableFuture.completedFuture(answer(said, host))
                : CompletableFuture.supplyAsync(() -> answer(said, host), blocking);
    }

    private static SentinelAnswer answer(Said said, String host) {
        try {
            int port = Integer.parseInt(said.named.get(1));
            Set<HostAndPort> others = said.known.stream()
                    .map(one -> new HostAndPort(
                            String.valueOf(one.get("ip")), Integer.parseInt(String.valueOf(one.get("port")))))
                    .collect(Collectors.toUnmodifiableSet());
            return new SentinelAnswer(
                    said.runId, host + ":" + port, Set.of(InetAddress.getAllByName(host)), port, others);
        } catch (UnknownHostException e) {
            throw new CompletionException(e);
        }
    }

    private CompletableFuture<Opened> open() {
        CompletableFuture<Opened> made = new CompletableFuture<>();
        synchronized (this) {
            CompletableFuture<Opened> known = opened;
            if (known != null && !known.isCompletedExceptionally()) {
                return known;
            }
            opened = made;
        }
        try {
            connect().whenComplete((to, failure) -> {
                if (failure == null) {
                    made.complete(to);
                } else {
                    made.completeExceptionally(failure);
                }
            });
        } catch (RuntimeException e) {
            made.completeExceptionally(e);
        }
        return made;
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
        // It may have been given up before, and another be in use.
        if (present != null
                && present.isDone()
                && !present.isCompletedExceptionally()
                && present.join().connection == handler) {
            leave(present);
        }
        handler.closeAsync(); // Lettuce would connect again and again, also while nobody asks
    }

    private synchronized boolean isClosedSince(int before) {
        return closed != before;
    }

    private void leave(CompletableFuture<Opened> known) {
        synchronized (this) {
            if (opened == known) {
                opened = null;
            }
        }
        known.thenAccept(to -> to.connection.closeAsync());
    }

    /** Closes the connection, and what is under way on it fails; the next question opens another. */
    void close() {
        @Nullable CompletableFuture<Opened> known;
        synchronized (this) {
            closed++;
            known = opened;
        }
        if (known != null) {
            leave(known);
        }
    }
}

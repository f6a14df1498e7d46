// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import io.mortise.lock.redis.client.AsyncOnlyRedisClient;
import io.mortise.lock.redis.client.RedisErrors;
import io.mortise.lock.redis.script.LuaScript;
import io.mortise.lock.redis.script.ReplyHandler;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.StageFailures;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Client of one Redis server over a single RESP3 connection, which keeps the server's order of replies and messages. When the
 * connection is lost, Lettuce opens it again and renews its subscription before it sends anything else. A client whose first
 * connection could not be opened stays unusable. Thread-safe.
 */
public final class RedisNodeClient {
    private static final Logger log = LoggerFactory.getLogger(RedisNodeClient.class);

    /** The time that a request waits for a lost connection. Lettuce reconnects within half of it if the server is up. */
    private static final Duration RECONNECT_TIMEOUT = Duration.ofSeconds(1);

    private static final Duration RECONNECT_PAUSE = Duration.ofMillis(50);

    private final Target target;
    private final BackendContext context;
    private final Duration requestTimeout;
    private final NodeListener listener;
    private final ServerClock time = new ServerClock();
    private final CallbackQueueUntilOpen opening = new CallbackQueueUntilOpen();
    private final NodeConnection connection;
    private final ChannelSubscriptions subscriptions;
    private final NodeRequests requests;
    private final ReplicaAcknowledgement replication;
    private volatile Throwable openFailure = new RedisException("not opened yet");
    private volatile String channel = "";
    private volatile boolean usable = true;
    private volatile boolean sharded;
    private volatile boolean closed;

    /**
     * The address of a server, and how to connect to it.
     *
     * @param id the server's node id in a cluster, else empty
     * @param endpoints the server's address for logs and messages, without secrets
     * @param connect opens a RESP3 connection that reconnects by itself; called once, by {@link #start}
     * @param moves whether another connection may lead to another server, so that the connection to a replica is dropped
     */
    public record Target(
            String id,
            String endpoints,
            Supplier<CompletionStage<StatefulRedisPubSubConnection<String, String>>> connect,
            boolean moves) {}

    /**
     * Creates a client without connecting; call {@link #start} next. Earlier requests wait until the connection is open.
     *
     * @param requestTimeout the timeout of each request (S15); opening the connection takes the context's timeout at most
     * @param waitReplicas how many replicas must have a write before it counts
     */
    public RedisNodeClient(
            Target target, BackendContext context, Duration requestTimeout, int waitReplicas, NodeListener listener) {
        this.target = target;
        this.context = context;
        this.requestTimeout = requestTimeout;
        this.listener = listener;
        this.connection = new NodeConnection(inCluster(), this::onDisconnected);
        this.subscriptions = new ChannelSubscriptions(this, listener);
        this.requests = new NodeRequests(this, connection, context, listener);
        this.replication = new ReplicaAcknowledgement(this, waitReplicas, context.clock());
    }

    private boolean inCluster() {
        return !target.id.isEmpty();
    }

    /**
     * Opens the connection, subscribes to the channel, and checks the server's features. Fails within the client's request
     * timeout. Called once.
     */
    public CompletionStage<?> start(String ownChannel) {
        channel = ownChannel;
        CompletionStage<Void> started = connecting().thenCompose(opened -> {
            if (!usable || closed) {
                connection.discard(opened);
                return CompletableFuture.failedFuture(new RedisException("the connection was opened too late"));
            }
            connection.use(opened, subscriptions);
            return new SubscriptionHandshake(opened.async(), ownChannel, endpoints(), context.clock())
                    .exchange(inCluster())
                    .thenAccept(this::handshakeEnded);
        });
        return context.withRequestTimeout("connect to " + endpoints(), started).whenComplete((ok, failure) -> {
            try {
                if (failure == null) {
                    listener.onOpened(this);
                } else {
                    openFailure = StageFailures.unwrap(failure);
                    usable = false;
                    connection.abandon(subscriptions);
                    listener.onFailure(this, openFailure);
                }
            } finally {
                opening.open(); // also after a failure, so that no request waits forever
            }
        });
    }

    private CompletionStage<StatefulRedisPubSubConnection<String, String>> connecting() {
        try {
            return target.connect.get();
        } catch (RuntimeException | Error e) { // e.g. no threads left, which is temporary: requests that wait must fail
            return CompletableFuture.failedFuture(e);
        }
    }

    private void handshakeEnded(SubscriptionHandshake.ServerReply reply) {
        time.onReply(reply.sent(), reply.time());
        sharded = reply.sharded();
    }

    private void onDisconnected(RedisException cause) {
        subscriptions.onDisconnected();
        time.forget();
        requests.onDisconnected(cause);
        if (!closed) {
            log.info("event=disconnected endpoints={}", endpoints());
            listener.onFailure(this, cause);
        }
    }

    /** Records that the first message came on a connection. */
    void onConnected() {
        if (connection.onFirstMessage()) {
            log.info("event=reconnected endpoints={}", endpoints());
        }
    }

    /** Records that data arrived on the connection. */
    void onReceived() {
        requests.onReceived();
    }

    /**
     * Calls back with null once the connection is open, or with the reason why it could not be opened. The callback runs on the
     * thread that opens the connection, or at once.
     */
    public void whenOpen(Consumer<@Nullable Throwable> callback) {
        opening.run(() -> callback.accept(usable ? null : notConnected()));
    }

    private NotConnectedException notConnected() {
        return new NotConnectedException(openFailure);
    }

    /** Returns whether the connection was opened or could not be opened, so that a request is sent or fails at once. */
    public boolean isOpen() {
        return opening.isOpen();
    }

    /** Returns false if the connection could not be opened; true before that is known. */
    public boolean isUsable() {
        return usable;
    }

    /** Returns whether the connection is established at present. */
    public boolean isConnected() {
        return connection.isConnected();
    }

    boolean moves() {
        return target.moves;
    }

    /** Returns whether this client was closed, or is about to be. */
    public boolean isClosed() {
        return closed;
    }

    /** Returns the server's node id in a cluster; empty otherwise. */
    public String id() {
        return target.id;
    }

    /** Returns the epoch of the present connection, a number that differs for each connection to any server. */
    public int epoch() {
        return connection.epoch();
    }

    /** Returns the server's address while connected; empty for an application-supplied client. */
    public Optional<SocketAddress> remoteAddress() {
        StatefulRedisPubSubConnection<String, String> opened = connection.ifOpened();
        return opened == null ? Optional.empty() : AsyncOnlyRedisClient.remoteAddress(opened);
    }

    /** Drops the connection; Lettuce then connects to the server that is the master by then. */
    public void reconnect() {
        if (!closed) {
            connection.drop();
        }
    }

    /** Returns the server's address for logs and messages, without secrets. */
    public String endpoints() {
        return target.endpoints;
    }

    /** Returns the timeout of each request. */
    public Duration requestTimeout() {
        return requestTimeout;
    }

    /** Returns the channel to which the connection is subscribed from its start. */
    public String channel() {
        return channel;
    }

    /** Returns whether the server supports SPUBLISH and allows this client to subscribe to sharded channels. */
    public boolean supportsShardedChannels() {
        return sharded;
    }

    /** Falls back to the client's own channel, because the server refused a subscription to a sharded channel. */
    void onShardedRefused(Throwable why) {
        if (sharded) {
            sharded = false;
            log.warn("event=shard-channels-refused endpoints={} cause=\"{}\"", endpoints(), why.getMessage());
        }
    }

    /** Subscribes to a sharded channel too; requests that are sent afterwards are executed after the subscription. */
    public void subscribe(String shardChannel) {
        StatefulRedisPubSubConnection<String, String> opened = connection.ifOpened();
        if (opened != null) {
            subscriptions.listen(opened, shardChannel);
        }
    }

    /** Returns the object that waits until replicas have acknowledged writes. */
    public ReplicaAcknowledgement replication() {
        return replication;
    }

    /** Returns the estimate of this server's clock. */
    public ServerClock serverClock() {
        return time;
    }

    /**
     * Returns the latest server time at which a request is still of use to its sender, one request timeout after it is sent. A
     * script that refuses later requests ensures that none is executed more than two request timeouts after it was sent (S8). If the
     * server's clock has drifted further since its last reply, the script refuses the request, with the time for the next one.
     */
    public ServerTime notAfter(MonotonicInstant sent) {
        return time.latestTimeAt(sent, requestTimeout).plus(requestTimeout);
    }

    /** Runs a script; the handler is called once, within one request timeout after the connection is open. */
    public void run(LuaScript script, String[] keys, String[] args, ReplyHandler reply) {
        opening.run(() -> {
            if (usable) {
                requests.send(script, keys, args, reply);
            } else {
                reply.onFailure(notConnected(), true);
            }
        });
    }

    /**
     * Runs a script like {@link #run} and returns a stage, which fails with the exceptions of {@link RedisErrors}. Waits up
     * to a second for a connection that is being reopened.
     *
     * @param what the request's description in error messages
     */
    public CompletionStage<List<Object>> execute(String what, LuaScript script, String[] keys, String... args) {
        return translated(what, retriedUntilConnected(() -> {
            CompletableFuture<List<Object>> result = new CompletableFuture<>();
            run(script, keys, args, new ReplyHandler() {
                @Override
                public void onReply(List<Object> values) {
                    result.complete(values);
                }

                @Override
                public void onFailure(Throwable cause, boolean notExecuted) {
                    result.completeExceptionally(cause);
                }
            });
            return result;
        }));
    }

    /** Returns a stage that fails with Mortise's exceptions instead of Lettuce's. */
    private <T> CompletionStage<T> translated(String what, CompletionStage<T> request) {
        CompletableFuture<T> result = new CompletableFuture<>();
        request.whenComplete((value, failure) -> {
            if (failure == null) {
                result.complete(value);
            } else {
                result.completeExceptionally(RedisErrors.of(failure, what, endpoints()));
            }
        });
        return result;
    }

    /**
     * Sends another command, such as an operator's. It completes within the client's request timeout, including the time
     * until the connection is open. Waits up to a second for a connection that is being reopened.
     *
     * @param what the command's description in error messages
     */
    public <T> CompletionStage<T> execute(
            String what, Function<RedisPubSubAsyncCommands<String, String>, RedisFuture<T>> command) {
        MonotonicInstant sent = context.clock().now();
        int epoch = connection.epoch();
        CompletionStage<T> request = retriedUntilConnected(() -> {
            CompletableFuture<T> result = new CompletableFuture<>();
            opening.run(() -> {
                if (usable) {
                    requests.send(command, result);
                } else {
                    result.completeExceptionally(notConnected());
                }
            });
            return result;
        });
        return translated(what, context.withRequestTimeout(what + " at " + endpoints(), request))
                .whenComplete((value, failure) -> {
                    if (!request.toCompletableFuture().isDone()) {
                        requests.onNoReply(sent, epoch);
                    }
                });
    }

    private <T> CompletionStage<T> retriedUntilConnected(Supplier<CompletionStage<T>> send) {
        return retriedUntilConnected(send, context.clock().now().plus(RECONNECT_TIMEOUT));
    }

    private <T> CompletionStage<T> retriedUntilConnected(Supplier<CompletionStage<T>> send, MonotonicInstant deadline) {
        return send.get().exceptionallyCompose(failure -> {
            boolean wait = NodeRequests.isReconnecting(StageFailures.unwrap(failure))
                    && !closed
                    && !context.clock().hasPassed(deadline);
            if (!wait) {
                return CompletableFuture.failedFuture(failure);
            }
            CompletableFuture<CompletionStage<T>> retry = new CompletableFuture<>();
            context.clock().schedule(RECONNECT_PAUSE, () -> retry.complete(retriedUntilConnected(send, deadline)));
            return retry.thenCompose(Function.identity());
        });
    }

    /** Announces that this client is about to be closed: failures from now on are expected and not reported. */
    public void announceClose() {
        closed = true;
    }

    /** Closes the connection; its pending requests fail. */
    public CompletableFuture<Void> close() {
        announceClose();
        return connection.close();
    }
}

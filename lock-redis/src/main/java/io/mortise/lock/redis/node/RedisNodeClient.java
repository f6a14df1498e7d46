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
import io.mortise.lock.spi.MonotonicTime;
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
 * One server: one connection, on which replies and messages come in the server's order (RESP3). Lettuce makes it anew when it
 * is lost, and listens again before anything else is sent. It is opened once; one that could not be opened stays so.
 * Thread-safe.
 */
public final class RedisNodeClient {
    private static final Logger log = LoggerFactory.getLogger(RedisNodeClient.class);

    /** Lettuce connects again within half of it, if the server is there. */
    private static final Duration RECONNECT_TIMEOUT = Duration.ofSeconds(1);

    private static final Duration RECONNECT_PAUSE = Duration.ofMillis(50);

    private final Target target;
    private final BackendContext context;
    private final Duration requestTimeout;
    private final NodeListener listener;
    private final ServerClock time = new ServerClock();
    private final DeferredUntilOpen opening = new DeferredUntilOpen();
    private final NodeConnection connection;
    private final ChannelSubscriptions subscriptions;
    private final NodeRequests requests;
    private final ReplicaAcknowledgement replication;
    private volatile Throwable unopened = new RedisException("not opened yet");
    private volatile String channel = "";
    private volatile boolean usable = true;
    private volatile boolean sharded;
    private volatile boolean closed;

    /**
     * Where a node is.
     *
     * @param id by which a cluster knows it, else empty
     * @param endpoints for people, without secrets
     * @param connect called once, by the start; a client with RESP3 that reconnects by itself
     * @param moves another connection may lead to another server: one that turns out to be a replica is dropped
     */
    public record Target(
            String id,
            String endpoints,
            Supplier<CompletionStage<StatefulRedisPubSubConnection<String, String>>> connect,
            boolean moves) {}

    /**
     * It is to be started; what is asked of it before waits for that.
     *
     * @param requestTimeout for each request (S15); to be opened takes the client's at most
     * @param waitReplicas how many replicas must have what counts as written
     */
    public RedisNodeClient(
            Target target, BackendContext context, Duration requestTimeout, int waitReplicas, NodeListener listener) {
        this.target = target;
        this.context = context;
        this.requestTimeout = requestTimeout;
        this.listener = listener;
        this.connection = new NodeConnection(inCluster(), this::lost);
        this.subscriptions = new ChannelSubscriptions(this, listener);
        this.requests = new NodeRequests(this, connection, context, listener);
        this.replication = new ReplicaAcknowledgement(this, waitReplicas, context.clock());
    }

    private boolean inCluster() {
        return !target.id.isEmpty();
    }

    /** Listens to the channel, and learns what the server can do; fails within the client's request timeout. Once. */
    public CompletionStage<?> start(String ownChannel) {
        channel = ownChannel;
        CompletionStage<Void> started = connecting().thenCompose(made -> {
            if (!usable || closed) {
                connection.discard(made);
                return CompletableFuture.failedFuture(new RedisException("too late"));
            }
            connection.use(made, subscriptions);
            return new ConnectionHandshake(made.async(), ownChannel, endpoints(), context.clock())
                    .exchange(inCluster())
                    .thenAccept(this::handshakeEnded);
        });
        return context.timed("connect to " + endpoints(), started).whenComplete((ok, failure) -> {
            try {
                if (failure == null) {
                    listener.opened(this);
                } else {
                    unopened = StageFailures.unwrap(failure);
                    usable = false;
                    connection.leave(subscriptions);
                    listener.trouble(this, unopened);
                }
            } finally {
                opening.open(); // whatever went wrong: nobody may wait for it for good
            }
        });
    }

    private CompletionStage<StatefulRedisPubSubConnection<String, String>> connecting() {
        try {
            return target.connect.get();
        } catch (RuntimeException | Error e) { // no threads left, say: that passes, and who waits must hear of it
            return CompletableFuture.failedFuture(e);
        }
    }

    private void handshakeEnded(ConnectionHandshake.ServerReply reply) {
        time.heard(reply.sent(), reply.time());
        sharded = reply.sharded();
    }

    private void lost(RedisException cause) {
        subscriptions.lost();
        time.forget();
        requests.lost(cause);
        if (!closed) {
            log.info("event=disconnected endpoints={}", endpoints());
            listener.trouble(this, cause);
        }
    }

    /** Its first message came: it is connected again. */
    void connected() {
        if (connection.reconnected()) {
            log.info("event=reconnected endpoints={}", endpoints());
        }
    }

    /** Something came over the connection. */
    void heard() {
        requests.heard();
    }

    /** Told once it is open, or why it never will be; on the thread that opens it, or at once. */
    public void whenOpen(Consumer<@Nullable Throwable> told) {
        opening.run(() -> told.accept(usable ? null : neverOpen()));
    }

    private NotConnectedException neverOpen() {
        return new NotConnectedException(unopened);
    }

    /** Whether it was opened, or could not be: what is asked of it goes out at once, or fails at once. */
    public boolean isOpen() {
        return opening.isOpen();
    }

    /** Whether it could be opened, or may yet be. */
    public boolean isUsable() {
        return usable;
    }

    /** Whether it is connected. */
    public boolean isConnected() {
        return connection.isConnected();
    }

    boolean moves() {
        return target.moves;
    }

    public boolean isClosed() {
        return closed;
    }

    /** By which a cluster knows it, else empty. */
    public String id() {
        return target.id;
    }

    /** Differs for each connection to any server. What was told in one epoch came over one connection. */
    public int epoch() {
        return connection.epoch();
    }

    /** The address that the present connection leads to: known of clients that are Mortise's own, while connected. */
    public Optional<SocketAddress> remote() {
        StatefulRedisPubSubConnection<String, String> made = connection.ifMade();
        return made == null ? Optional.empty() : AsyncOnlyRedisClient.remote(made);
    }

    /** Drops the connection: the next one leads to the server that is the master by then. */
    public void reconnect() {
        if (!closed) {
            connection.drop();
        }
    }

    /** Where people look for it, without secrets. */
    public String endpoints() {
        return target.endpoints;
    }

    /** For each request. */
    public Duration requestTimeout() {
        return requestTimeout;
    }

    /** What it listens to since its start. */
    public String channel() {
        return channel;
    }

    /** Whether it knows SPUBLISH, and lets us listen to it. */
    public boolean sharded() {
        return sharded;
    }

    /** It does not let us listen to channels of a slot: its own serves from now on. */
    void refusedShards(Throwable why) {
        if (sharded) {
            sharded = false;
            log.warn("event=shard-channels-refused endpoints={} cause=\"{}\"", endpoints(), why.getMessage());
        }
    }

    /** Listens to a channel of a slot as well; what is sent after this is executed after it. */
    public void listen(String shardChannel) {
        StatefulRedisPubSubConnection<String, String> made = connection.ifMade();
        if (made != null) {
            subscriptions.listen(made, shardChannel);
        }
    }

    /** Whether its replicas have what was written. */
    public ReplicaAcknowledgement replication() {
        return replication;
    }

    /** This server's clock. */
    public ServerClock time() {
        return time;
    }

    /**
     * Returns the latest server time at which a request that is sent then is still of use to its sender: one request timeout
     * later. A script that refuses what comes after it cannot be executed unseen for long (S8).
     */
    public ServerTime notAfter(MonotonicTime sent) {
        return time.atMost(sent).plus(requestTimeout);
    }

    /** Runs a script; the reply is told once, within one request timeout from when it is open. */
    public void run(LuaScript script, String[] keys, String[] args, ReplyHandler reply) {
        opening.run(() -> {
            if (usable) {
                requests.send(script, keys, args, reply);
            } else {
                reply.failed(neverOpen(), true);
            }
        });
    }

    /**
     * As {@link #run}, with a stage, which fails as {@link RedisErrors} says. A connection that is being made anew is waited for,
     * for a second.
     *
     * @param what for the error's message
     */
    public CompletionStage<List<Object>> ask(String what, LuaScript script, String[] keys, String... args) {
        return explained(what, whileReconnecting(() -> {
            CompletableFuture<List<Object>> answer = new CompletableFuture<>();
            run(script, keys, args, new ReplyHandler() {
                @Override
                public void answered(List<Object> values) {
                    answer.complete(values);
                }

                @Override
                public void failed(Throwable cause, boolean notExecuted) {
                    answer.completeExceptionally(cause);
                }
            });
            return answer;
        }));
    }

    private <T> CompletionStage<T> explained(String what, CompletionStage<T> asked) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        asked.whenComplete((value, failure) -> {
            if (failure == null) {
                answer.complete(value);
            } else {
                answer.completeExceptionally(RedisErrors.of(failure, what, endpoints()));
            }
        });
        return answer;
    }

    /**
     * Another command, such as an operator's: within the client's request timeout, the time until it is open included. A connection
     * that is being made anew is waited for, for a second.
     */
    public <T> CompletionStage<T> ask(
            String what, Function<RedisPubSubAsyncCommands<String, String>, RedisFuture<T>> command) {
        CompletionStage<T> answered = whileReconnecting(() -> {
            CompletableFuture<T> answer = new CompletableFuture<>();
            opening.run(() -> {
                if (usable) {
                    requests.send(command, answer);
                } else {
                    answer.completeExceptionally(neverOpen());
                }
            });
            return answer;
        });
        return explained(what, context.timed(what + " at " + endpoints(), answered));
    }

    private <T> CompletionStage<T> whileReconnecting(Supplier<CompletionStage<T>> send) {
        return untilConnected(send, context.clock().now().plus(RECONNECT_TIMEOUT));
    }

    private <T> CompletionStage<T> untilConnected(Supplier<CompletionStage<T>> send, MonotonicTime giveUp) {
        return send.get().exceptionallyCompose(failure -> {
            boolean wait = NodeRequests.isReconnecting(StageFailures.unwrap(failure))
                    && !closed
                    && !context.clock().hasPassed(giveUp);
            if (!wait) {
                return CompletableFuture.failedFuture(failure);
            }
            CompletableFuture<CompletionStage<T>> again = new CompletableFuture<>();
            context.clock().schedule(RECONNECT_PAUSE, () -> again.complete(untilConnected(send, giveUp)));
            return again.thenCompose(Function.identity());
        });
    }

    /** The client that it belongs to is about to end it: what fails from now on is no trouble. */
    public void closing() {
        closed = true;
    }

    /** Ends the connection; what is under way on it fails. */
    public CompletableFuture<Void> close() {
        closing();
        return connection.close();
    }
}

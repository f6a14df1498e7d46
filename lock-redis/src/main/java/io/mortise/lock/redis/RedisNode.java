// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import io.mortise.lock.spi.BackendContext;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One server as seen from here: one connection, on which answers and messages come in the server's order (RESP3). Lettuce
 * makes it anew when it is lost, and listens again before anything else is sent.
 */
final class RedisNode {
    private static final Logger log = LoggerFactory.getLogger(RedisNode.class);
    private static final AtomicInteger EPOCHS = new AtomicInteger();

    private final String id;
    private final String endpoints;
    private final Supplier<CompletionStage<StatefulRedisPubSubConnection<String, String>>> connect;
    private final BackendContext context;
    private final Listener listener;
    private final ServerTime time = new ServerTime();
    private final Replication replication;
    private final Opening opening = new Opening();
    private final ConnectionLost lost = new ConnectionLost();
    private final Subscriptions subscriptions;
    private final Requests requests;
    private volatile @Nullable StatefulRedisPubSubConnection<String, String> connection;
    private volatile Throwable unopened = new RedisException("not opened yet");
    private volatile String channel = "";
    private volatile int epoch = EPOCHS.incrementAndGet();
    private volatile boolean usable = true;
    private volatile boolean connected;
    private volatile boolean sharded;
    private volatile boolean closed;

    /** Told on the connection's I/O thread. */
    interface Listener {
        /** What was published for this client. */
        void message(RedisNode from, String text);

        /** A connection stands and listens: the first, or another after one was lost; or it must listen anew. */
        void listening(RedisNode node);

        /** It can be used from now on. */
        default void opened(RedisNode node) {}

        /** It was lost, or could not serve a request. */
        default void trouble(RedisNode node, Throwable cause) {}
    }

    /** What becomes of one request. */
    interface Reply {
        /** On the connection's I/O thread: {@link RedisNode#epoch()} is that of the connection on which it came. */
        void answered(List<Object> answer);

        /**
         * No answer, or an error for one.
         *
         * @param cause as Lettuce tells it
         * @param notExecuted it certainly has not been executed, nor will it be
         */
        void failed(Throwable cause, boolean notExecuted);
    }

    /** Nothing could be sent at all. */
    private static final class NotOpen extends RedisException {
        private static final long serialVersionUID = 1;

        NotOpen(Throwable cause) {
            super(String.valueOf(cause.getMessage()), cause);
        }
    }

    /**
     * It is to be started; what is asked of it before waits for that.
     *
     * @param id by which a cluster knows it, else empty
     * @param connect called once, by the start
     */
    RedisNode(
            String id,
            String endpoints,
            Supplier<CompletionStage<StatefulRedisPubSubConnection<String, String>>> connect,
            BackendContext context,
            int waitReplicas,
            Listener listener) {
        this.id = id;
        this.endpoints = endpoints;
        this.connect = connect;
        this.context = context;
        this.listener = listener;
        this.subscriptions = new Subscriptions(this, listener);
        this.requests = new Requests(this, context, listener);
        this.replication = new Replication(this, waitReplicas, context.clock()::nanoTime);
    }

    /** Listens to the channel, and learns what the server can do; fails within a request timeout. */
    CompletionStage<?> start(String ownChannel) {
        channel = ownChannel;
        CompletionStage<Void> started = connecting().thenCompose(made -> {
            if (!usable) {
                return CompletableFuture.failedFuture(new RedisException("too late"));
            }
            connection = made;
            connected = true;
            made.addListener(lost);
            made.addListener(subscriptions);
            return new Greeting(made.async(), ownChannel, endpoints, context.clock()::nanoTime)
                    .exchange(!id.isEmpty())
                    .thenAccept(this::greeted);
        });
        CompletionStage<Void> bounded = context.timed("connect to " + endpoints, started);
        return bounded.whenComplete((ok, failure) -> {
            try {
                if (failure == null) {
                    listener.opened(this);
                } else {
                    unopened =
                            failure instanceof CompletionException e && e.getCause() != null ? e.getCause() : failure;
                    usable = false;
                    leave();
                    listener.trouble(this, unopened);
                }
            } finally {
                opening.open(); // whatever went wrong: nobody may wait for it for good
            }
        });
    }

    private CompletionStage<StatefulRedisPubSubConnection<String, String>> connecting() {
        try {
            return connect.get();
        } catch (RuntimeException | Error e) { // no threads left, say: that passes, and who waits must hear of it
            return CompletableFuture.failedFuture(e);
        }
    }

    private void greeted(Greeting.Said said) {
        time.heard(said.sentNanos(), said.serverMicros());
        sharded = said.sharded();
    }

    /** Told once it is open, or why it never will be. */
    void whenOpen(Consumer<@Nullable Throwable> told) {
        opening.run(() -> told.accept(usable ? null : neverOpen()));
    }

    private NotOpen neverOpen() {
        return new NotOpen(unopened);
    }

    boolean isOpen() {
        return opening.isOpen();
    }

    /** Whether it could be opened, or may yet be. */
    boolean isUsable() {
        return usable;
    }

    /** Whether its connection stands. */
    boolean isConnected() {
        return connected;
    }

    /** It stands again, as its first message says. */
    void stands() {
        if (!connected) {
            connected = true;
            log.info("event=reconnected endpoints={}", endpoints);
        }
    }

    /** Something came over the connection. */
    void heard() {
        requests.heard();
    }

    @Nullable
    StatefulRedisPubSubConnection<String, String> connection() {
        return connection;
    }

    boolean isClosed() {
        return closed;
    }

    /** By which a cluster knows it, else empty. */
    String id() {
        return id;
    }

    /** Differs for each connection to any server. What was told in one epoch came over one connection. */
    int epoch() {
        return epoch;
    }

    String endpoints() {
        return endpoints;
    }

    /** What it listens to since its start. */
    String channel() {
        return channel;
    }

    /** Whether it knows SPUBLISH, and lets us listen to it. */
    boolean sharded() {
        return sharded;
    }

    /** It does not let us listen to channels of a slot: its own serves from now on. */
    void refusedShards(Throwable why) {
        if (sharded) {
            sharded = false;
            log.warn("event=shard-channels-refused endpoints={} cause=\"{}\"", endpoints, why.getMessage());
        }
    }

    /** Listens to a channel of a slot as well; what is sent after this is executed after it. */
    void listen(String shardChannel) {
        StatefulRedisPubSubConnection<String, String> made = connection;
        if (made != null) {
            subscriptions.listen(made, shardChannel);
        }
    }

    /** Whether its replicas have what was written. */
    Replication replication() {
        return replication;
    }

    /** This server's clock. */
    ServerTime time() {
        return time;
    }

    /** Runs a script; the reply is told once, within one request timeout. */
    void run(Script script, String[] keys, String[] args, Reply reply) {
        opening.run(() -> {
            if (usable) {
                requests.send(script, keys, args, reply);
            } else {
                reply.failed(neverOpen(), true);
            }
        });
    }

    /** Another command, such as an operator's. */
    <T> CompletionStage<T> ask(
            String what, Function<RedisPubSubAsyncCommands<String, String>, RedisFuture<T>> command) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        opening.run(() -> {
            try {
                if (!usable) {
                    throw neverOpen();
                }
                command.apply(Objects.requireNonNull(connection).async()).whenComplete((value, failure) -> {
                    if (failure == null) {
                        heard();
                        answer.complete(value);
                    } else {
                        answer.completeExceptionally(failure);
                    }
                });
            } catch (RuntimeException e) {
                answer.completeExceptionally(e);
            }
        });
        return context.timed(what + " at " + endpoints, answer)
                .exceptionallyCompose(
                        failure -> CompletableFuture.failedFuture(RedisFailure.of(failure, what, endpoints)));
    }

    /** As {@link #run}, with a stage. */
    CompletionStage<List<Object>> ask(String what, Script script, String[] keys, String... args) {
        CompletableFuture<List<Object>> answer = new CompletableFuture<>();
        run(script, keys, args, new Reply() {
            @Override
            public void answered(List<Object> values) {
                answer.complete(values);
            }

            @Override
            public void failed(Throwable cause, boolean notExecuted) {
                answer.completeExceptionally(RedisFailure.of(cause, what, endpoints));
            }
        });
        return answer;
    }

    /** The client that it belongs to is about to end it. */
    void closing() {
        closed = true;
    }

    /** Ends the connection; what is under way on it fails. */
    CompletableFuture<Void> close() {
        closing();
        return closeNow();
    }

    /** In a cluster Lettuce keeps the connection, and gives it to who asks next: closed, it would be of no use for good. */
    private void leave() {
        StatefulRedisPubSubConnection<String, String> made = connection;
        if (made == null) {
            return;
        }
        made.removeListener(subscriptions);
        made.removeListener(lost);
        if (id.isEmpty()) {
            made.closeAsync();
        } else {
            requests.drop();
        }
    }

    private CompletableFuture<Void> closeNow() {
        StatefulRedisPubSubConnection<String, String> made = connection;
        return made == null ? CompletableFuture.completedFuture(null) : made.closeAsync();
    }

    private final class ConnectionLost implements RedisConnectionStateListener {
        @Override
        public void onRedisDisconnected(RedisChannelHandler<?, ?> handler) {
            epoch = EPOCHS.incrementAndGet();
            connected = false;
            subscriptions.lost();
            time.forget();
            RedisException cause = new RedisException("the connection was lost");
            requests.lost(cause);
            if (!closed) {
                log.info("event=disconnected endpoints={}", endpoints);
                listener.trouble(RedisNode.this, cause);
            }
        }
    }
}

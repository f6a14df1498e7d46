// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.lettuce.core.Delegating;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisChannelWriter;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.protocol.DefaultEndpoint;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.spi.BackendContext;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
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

    private static final CompletionStage<String> NO_CLUSTER = CompletableFuture.completedFuture("");

    private final String id;
    private final String endpoints;
    private final CompletionStage<StatefulRedisPubSubConnection<String, String>> connecting;
    private final BackendContext context;
    private final Listener listener;
    private final ServerTime time = new ServerTime();
    private final Deadlines deadlines;
    private final Replication replication;
    private final Opening opening = new Opening();
    private final Set<String> shardChannels = ConcurrentHashMap.newKeySet();
    private volatile @Nullable StatefulRedisPubSubConnection<String, String> connection;
    private volatile String channel = "";
    private volatile int epoch = EPOCHS.incrementAndGet();
    private volatile long heardNanos;
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
     * It is to be started.
     *
     * @param id by which a cluster knows it, else empty
     */
    RedisNode(
            String id,
            String endpoints,
            CompletionStage<StatefulRedisPubSubConnection<String, String>> connecting,
            BackendContext context,
            int waitReplicas,
            Listener listener) {
        this.id = id;
        this.endpoints = endpoints;
        this.connecting = connecting;
        this.context = context;
        this.listener = listener;
        this.heardNanos = context.clock().nanoTime();
        this.deadlines = new Deadlines(context.clock(), context.requestTimeout(), this::overdue);
        this.replication = new Replication(this, waitReplicas, context.clock()::nanoTime);
    }

    /** Listens to the channel, and asks for the time, and in a cluster for the version; fails within a request timeout. */
    CompletionStage<?> start(String ownChannel) {
        channel = ownChannel;
        CompletionStage<Object> started = connecting.thenCompose(made -> {
            connection = made;
            connected = true;
            made.addListener(new ConnectionLost());
            made.addListener(new Messages());
            RedisPubSubAsyncCommands<String, String> commands = made.async();
            return commands.subscribe(ownChannel).thenCompose(subscribed -> {
                long sent = context.clock().nanoTime();
                return commands.time()
                        .thenAccept(now -> time.heard(sent, micros(now)))
                        .thenCompose(ok -> id.isEmpty()
                                ? NO_CLUSTER
                                : commands.info("server").exceptionally(forbidden -> ""))
                        .thenApply(info -> sharded = version(info) >= 7);
            });
        });
        CompletionStage<Object> bounded = context.timed("connect to " + endpoints, started);
        return bounded.whenComplete((ok, failure) -> {
            if (failure == null) {
                listener.opened(this);
            } else {
                usable = false;
                closeNow();
                listener.trouble(this, failure);
            }
            opening.open();
        });
    }

    private static long micros(List<String> secondsAndMicros) {
        return Long.parseLong(secondsAndMicros.get(0)) * 1_000_000 + Long.parseLong(secondsAndMicros.get(1));
    }

    private static int version(String info) {
        return EvictionCheck.field(info, "redis_version")
                .map(version -> Integer.parseInt(version.replaceFirst("\\D.*", "")))
                .orElse(0);
    }

    /** Told once it is open, or why it never will be. */
    void whenOpen(Consumer<@Nullable Throwable> told) {
        opening.run(() -> told.accept(usable ? null : neverOpen()));
    }

    private Throwable neverOpen() {
        CompletableFuture<StatefulRedisPubSubConnection<String, String>> made = connecting.toCompletableFuture();
        Throwable cause = new RedisException("Connection is closed");
        if (made.isCompletedExceptionally()) {
            try {
                made.join();
            } catch (RuntimeException e) {
                cause = e.getCause() != null ? e.getCause() : e;
            }
        }
        return new NotOpen(cause);
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

    /** Whether it knows SPUBLISH. */
    boolean sharded() {
        return sharded;
    }

    /** Listens to a channel of a slot as well; what is sent after this is executed after it. */
    void listen(String shardChannel) {
        StatefulRedisPubSubConnection<String, String> made = connection;
        if (made != null && shardChannels.add(shardChannel)) {
            made.async().ssubscribe(shardChannel).whenComplete((ok, failure) -> {
                if (failure != null) {
                    shardChannels.remove(shardChannel);
                    listener.trouble(this, failure);
                }
            });
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
                send(Call.bySha1(script, keys, args, context.clock().nanoTime(), epoch), reply, script, keys, args);
            } else {
                reply.failed(neverOpen(), true);
            }
        });
    }

    private void send(Call call, Reply reply, Script script, String[] keys, String[] args) {
        call.whenComplete(
                (answer, failure) -> { // before it is sent: what runs on the I/O thread keeps the server's order
                    deadlines.ended();
                    if (failure == null) {
                        heardNanos = context.clock().nanoTime();
                        answered(reply, answer);
                    } else if (failure instanceof RedisNoScriptException) {
                        send(
                                Call.byText(script, keys, args, context.clock().nanoTime(), epoch),
                                reply,
                                script,
                                keys,
                                args);
                    } else {
                        dropReplica(failure);
                        listener.trouble(this, failure);
                        reply.failed(failure, wasNotExecuted(failure));
                    }
                });
        deadlines.begin(call);
        try {
            Objects.requireNonNull(connection).dispatch(call);
        } catch (RuntimeException e) {
            call.completeExceptionally(e);
        }
    }

    /** Whatever is odd about an answer, its ticket hears of it: nobody may be left waiting. */
    private static void answered(Reply reply, List<Object> answer) {
        try {
            reply.answered(answer);
        } catch (RuntimeException e) {
            reply.failed(
                    new BackendRefusedException("the server answered what its scripts do not: " + answer, e), false);
        }
    }

    /** An error that the server answered, or a connection that took nothing. A text that Lettuce changes only costs time. */
    private static boolean wasNotExecuted(Throwable failure) {
        String message = failure.getMessage();
        return failure instanceof RedisCommandExecutionException
                || (failure instanceof RedisException
                        && message != null
                        && (message.contains("Commands are rejected")
                                || message.contains("Commands are not accepted")
                                || message.equals("Connection is closed")));
    }

    /** Another command, such as an operator's. */
    <T> CompletionStage<T> ask(
            String what, Function<RedisPubSubAsyncCommands<String, String>, RedisFuture<T>> command) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        opening.run(() -> {
            try {
                if (!usable) {
                    throw new NotOpen(neverOpen());
                }
                command.apply(Objects.requireNonNull(connection).async()).whenComplete((value, failure) -> {
                    if (failure == null) {
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

    private void overdue(Call call) {
        boolean silent = heardNanos - call.sentNanos() < 0 && call.epoch() == epoch;
        call.completeExceptionally(new BackendUnavailableException("no answer from " + endpoints + " in "
                + context.requestTimeout().toMillis() + " ms"));
        if (silent && !closed) {
            // TCP would notice in a quarter of an hour. What was sent is settled on the next connection.
            log.info("event=connection-silent endpoints={}", endpoints);
            drop();
        }
    }

    /** It is a master no longer: the next connection leads to the one that is, if somebody knows. */
    private void dropReplica(Throwable failure) {
        if (failure instanceof RedisCommandExecutionException answer
                && RedisFailure.code(String.valueOf(answer.getMessage())).equals("READONLY")
                && !closed) {
            log.info("event=not-a-master endpoints={}", endpoints);
            drop();
        }
    }

    private void drop() {
        if (!(connection instanceof RedisChannelHandler<?, ?> made)) {
            return;
        }
        RedisChannelWriter writer = made.getChannelWriter();
        Object endpoint = writer instanceof Delegating<?> wrapped ? wrapped.unwrap() : writer;
        if (endpoint instanceof DefaultEndpoint own) {
            own.disconnect();
        }
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

    private CompletableFuture<Void> closeNow() {
        StatefulRedisPubSubConnection<String, String> made = connection;
        return made == null ? CompletableFuture.completedFuture(null) : made.closeAsync();
    }

    private final class ConnectionLost implements RedisConnectionStateListener {
        @Override
        public void onRedisDisconnected(RedisChannelHandler<?, ?> handler) {
            epoch = EPOCHS.incrementAndGet();
            connected = false;
            shardChannels.clear();
            time.forget();
            if (!closed) {
                log.info("event=disconnected endpoints={}", endpoints);
                listener.trouble(RedisNode.this, new RedisException("Connection is closed"));
            }
        }
    }

    private final class Messages extends RedisPubSubAdapter<String, String> {
        @Override
        public void subscribed(@Nullable String on, long count) {
            heardNanos = context.clock().nanoTime();
            if (!connected) {
                connected = true;
                log.info("event=reconnected endpoints={}", endpoints);
            }
            listener.listening(RedisNode.this);
        }

        @Override
        public void message(@Nullable String on, @Nullable String text) {
            heardNanos = context.clock().nanoTime();
            if (text != null) {
                listener.message(RedisNode.this, text);
            }
        }

        @Override
        public void smessage(@Nullable String on, @Nullable String text) {
            message(on, text);
        }

        /** The slot has moved to another node. */
        @Override
        public void sunsubscribed(@Nullable String from, long count) {
            if (from != null && shardChannels.remove(from)) {
                listener.trouble(RedisNode.this, new RedisException("MOVED: " + from));
                listener.listening(RedisNode.this);
            }
        }
    }
}

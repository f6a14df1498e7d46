// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.lettuce.core.Delegating;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisChannelWriter;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.protocol.DefaultEndpoint;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.spi.BackendContext;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
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

    private final StatefulRedisPubSubConnection<String, String> connection;
    private final String endpoints;
    private final BackendContext context;
    private final Listener listener;
    private final ServerTime time = new ServerTime();
    private final Deadlines deadlines;
    private final Replication replication;
    private volatile int epoch;
    private volatile long heardNanos;
    private volatile boolean closed;

    /** Told on the connection's I/O thread. */
    interface Listener {
        /** What was published for this client. */
        void message(RedisNode from, String text);

        /** A connection stands and listens: the first, or another after one was lost. */
        void listening(RedisNode node);
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

    RedisNode(
            StatefulRedisPubSubConnection<String, String> connection,
            String endpoints,
            BackendContext context,
            int waitReplicas,
            Listener listener) {
        this.connection = connection;
        this.endpoints = endpoints;
        this.context = context;
        this.listener = listener;
        this.heardNanos = context.clock().nanoTime();
        this.deadlines = new Deadlines(context.clock(), context.requestTimeout(), this::overdue);
        this.replication = new Replication(this, waitReplicas, context.clock()::nanoTime);
    }

    /** Listens to the channel, and asks for the time. */
    CompletionStage<?> start(String channel) {
        connection.addListener(new ConnectionLost());
        connection.addListener(new Messages());
        RedisPubSubAsyncCommands<String, String> commands = connection.async();
        return commands.subscribe(channel).thenCompose(subscribed -> {
            long sent = context.clock().nanoTime();
            return commands.time().thenAccept(now -> time.heard(sent, micros(now)));
        });
    }

    private static long micros(List<String> secondsAndMicros) {
        return Long.parseLong(secondsAndMicros.get(0)) * 1_000_000 + Long.parseLong(secondsAndMicros.get(1));
    }

    /** Rises with each connection that is lost. What was told in one epoch came over one connection. */
    int epoch() {
        return epoch;
    }

    String endpoints() {
        return endpoints;
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
        send(Call.bySha1(script, keys, args, context.clock().nanoTime(), epoch), reply, script, keys, args);
    }

    private void send(Call call, Reply reply, Script script, String[] keys, String[] args) {
        call.whenComplete(
                (answer, failure) -> { // before it is sent: what runs on the I/O thread keeps the server's order
                    deadlines.ended();
                    if (failure == null) {
                        heardNanos = context.clock().nanoTime();
                        reply.answered(answer);
                    } else if (failure instanceof RedisNoScriptException) {
                        send(
                                Call.byText(script, keys, args, context.clock().nanoTime(), epoch),
                                reply,
                                script,
                                keys,
                                args);
                    } else {
                        dropReplica(failure);
                        reply.failed(failure, wasNotExecuted(failure));
                    }
                });
        deadlines.begin(call);
        try {
            connection.dispatch(call);
        } catch (RuntimeException e) {
            call.completeExceptionally(e);
        }
    }

    /** An error that the server answered, or a connection that took nothing. A text that Lettuce changes only costs time. */
    private static boolean wasNotExecuted(Throwable failure) {
        String message = failure.getMessage();
        return failure instanceof io.lettuce.core.RedisCommandExecutionException
                || (failure instanceof RedisException
                        && message != null
                        && (message.contains("Commands are rejected")
                                || message.contains("Commands are not accepted")
                                || message.equals("Connection is closed")));
    }

    /** Another command, such as an operator's. */
    <T> CompletionStage<T> ask(
            String what, Function<RedisPubSubAsyncCommands<String, String>, RedisFuture<T>> command) {
        CompletionStage<T> answer;
        try {
            answer = command.apply(connection.async());
        } catch (RuntimeException e) {
            answer = CompletableFuture.failedFuture(e);
        }
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
        if (failure instanceof io.lettuce.core.RedisCommandExecutionException answer
                && RedisFailure.code(String.valueOf(answer.getMessage())).equals("READONLY")
                && !closed) {
            log.info("event=not-a-master endpoints={}", endpoints);
            drop();
        }
    }

    private void drop() {
        RedisChannelWriter writer = ((RedisChannelHandler<?, ?>) connection).getChannelWriter();
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
        return connection.closeAsync();
    }

    private final class ConnectionLost implements RedisConnectionStateListener {
        @Override
        @SuppressWarnings("NonAtomicVolatileUpdate") // one connection at a time, so one I/O thread at a time
        public void onRedisDisconnected(RedisChannelHandler<?, ?> handler) {
            epoch++;
            time.forget();
            if (!closed) {
                log.info("event=disconnected endpoints={}", endpoints);
            }
        }
    }

    private final class Messages extends RedisPubSubAdapter<String, String> {
        @Override
        public void subscribed(@Nullable String channel, long count) {
            heardNanos = context.clock().nanoTime();
            if (epoch > 0) {
                log.info("event=reconnected endpoints={}", endpoints);
            }
            listener.listening(RedisNode.this);
        }

        @Override
        public void message(@Nullable String channel, @Nullable String text) {
            heardNanos = context.clock().nanoTime();
            if (text != null) {
                listener.message(RedisNode.this, text);
            }
        }
    }
}

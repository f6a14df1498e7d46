// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.redis.client.RedisErrors;
import io.mortise.lock.redis.script.LuaScript;
import io.mortise.lock.redis.script.ReplyHandler;
import io.mortise.lock.redis.script.ScriptCall;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends requests on one connection, enforces their deadlines, and drops the connection if it stops responding. */
final class NodeRequests {
    private static final Logger log = LoggerFactory.getLogger(NodeRequests.class);

    private final RedisNodeClient node;
    private final NodeConnection connection;
    private final LockClock clock;
    private final Duration limit;
    private final NodeListener listener;
    private final RequestDeadlines deadlines;
    private final OrderedWriter writer;
    private final Duration timeToRead;
    private final AtomicBoolean pinging = new AtomicBoolean();
    private volatile MonotonicInstant lastReceived;

    /** @param listener the listener that is notified of each failed request */
    NodeRequests(RedisNodeClient node, NodeConnection connection, BackendContext context, NodeListener listener) {
        this.node = node;
        this.connection = connection;
        this.clock = context.clock();
        this.limit = node.requestTimeout();
        this.listener = listener;
        this.lastReceived = clock.now();
        this.deadlines = new RequestDeadlines(clock, limit, this::overdue);
        this.timeToRead = limit.dividedBy(4);
        this.writer = new OrderedWriter(connection::offChannel);
    }

    /** Records that data arrived on the connection. Called on its I/O thread. */
    void onReceived() {
        writer.onChannelThread();
        lastReceived = clock.now();
    }

    /**
     * Sends a script call; the handler is called once, within one request timeout. A server that does not know the script yet is
     * sent its text, after requests that were sent meanwhile.
     */
    void send(LuaScript script, String[] keys, String[] args, ReplyHandler reply) {
        send(ScriptCall.bySha1(script, keys, args, clock.now(), connection.epoch()), reply, script, keys, args);
    }

    private void send(ScriptCall call, ReplyHandler reply, LuaScript script, String[] keys, String[] args) {
        call.onReply(this::onReceived);
        call.whenComplete(
                (values, failure) -> { // registered before sending: callbacks on the I/O thread keep the server's order
                    call.written();
                    deadlines.ended();
                    if (failure == null) {
                        deliver(reply, values);
                    } else if (failure instanceof RedisNoScriptException) {
                        reply.onSentAgain();
                        send(
                                ScriptCall.byText(script, keys, args, call.sentAt(), connection.epoch()),
                                reply,
                                script,
                                keys,
                                args);
                    } else {
                        dropReplica(failure);
                        listener.onFailure(node, failure);
                        reply.onFailure(failure, wasNotExecuted(failure));
                    }
                });
        deadlines.begin(call);
        try {
            writer.send(call, () -> dispatch(call));
        } catch (RuntimeException e) { // the executor rejects tasks because the client is about to end
            call.completeExceptionally(e);
        }
    }

    private void dispatch(ScriptCall call) {
        try {
            connection.opened().dispatch(call);
        } catch (RuntimeException e) {
            call.completeExceptionally(e);
        }
    }

    /** Sends a command other than a script call. */
    <T> void send(
            Function<RedisPubSubAsyncCommands<String, String>, RedisFuture<T>> command, CompletableFuture<T> result) {
        try {
            command.apply(connection.opened().async()).whenComplete((value, failure) -> {
                if (failure == null) {
                    lastReceived = clock.now(); // not onReceived(): this may run on any thread
                    result.complete(value);
                } else {
                    result.completeExceptionally(failure);
                }
            });
        } catch (RuntimeException e) {
            result.completeExceptionally(e);
        }
    }

    /** Delivers a reply. A handler that cannot process it is called with a failure, so that no caller waits forever. */
    private void deliver(ReplyHandler reply, List<Object> values) {
        try {
            reply.onReply(values);
        } catch (RuntimeException e) {
            reply.onFailure(
                    new BackendRefusedException(
                            "unexpected script reply from " + node.endpoints() + " with " + values.size()
                                    + " values: check for a proxy or another service in between",
                            e),
                    false);
        }
    }

    /**
     * Returns whether the request certainly was not executed: the server replied with an error, or Lettuce did not accept the
     * request. If Lettuce changes these messages, the outcome counts as unknown, which only costs time.
     */
    private static boolean wasNotExecuted(Throwable failure) {
        String message = failure.getMessage();
        return failure instanceof RedisCommandExecutionException
                || isReconnecting(failure)
                || (failure instanceof RedisException
                        && message != null
                        && (message.contains("Commands are not accepted") || message.equals("Connection is closed")));
    }

    /** Returns whether Lettuce rejected the request because the connection was lost and is being reopened. */
    static boolean isReconnecting(Throwable failure) {
        String message = failure.getMessage();
        return failure instanceof RedisException && message != null && message.contains("Commands are rejected");
    }

    /**
     * Completes all pending requests, because the connection was lost. Lettuce does not send a completed request. With some
     * client options it would otherwise send it again on the next connection, and a release that was already executed would
     * find nothing to release.
     */
    void onDisconnected(Throwable cause) {
        writer.onDisconnected();
        deadlines.endAll(cause);
    }

    private void overdue(ScriptCall call) {
        call.completeExceptionally(new BackendUnavailableException(
                "no answer from " + node.endpoints() + " in " + limit.toMillis() + " ms"));
        onNoReply(call.sentAt(), call.epoch());
    }

    /** Checks the connection after a request that was sent then, in that epoch, and has had no reply in time. */
    void onNoReply(MonotonicInstant sentAt, int epoch) {
        if (isSilentSince(sentAt, epoch) && !node.isClosed() && pinging.compareAndSet(false, true)) {
            ping(sentAt, epoch);
        }
    }

    private boolean isSilentSince(MonotonicInstant sentAt, int epoch) {
        return lastReceived.isBefore(sentAt) && epoch == connection.epoch();
    }

    /**
     * Checks whether the server still responds. After a pause of the process, this timer may run long before the I/O thread
     * reads the replies. So the connection is dropped only after that thread has written one more request and had time to
     * read.
     */
    private void ping(MonotonicInstant sentAt, int epoch) {
        ServerPing ping = new ServerPing(() -> clock.schedule(timeToRead, () -> {
            pinging.set(false);
            if (isSilentSince(sentAt, epoch) && !node.isClosed()) {
                // TCP would notice only after a quarter of an hour. The outcome of pending requests is determined on
                // the
                // next connection.
                log.info("event=connection-silent endpoints={}", node.endpoints());
                connection.drop();
            }
        }));
        ping.whenComplete((time, failure) -> {
            if (failure == null) {
                onReceived();
            } else {
                pinging.set(false); // it may never have been written
            }
        });
        try {
            connection.opened().dispatch(ping);
        } catch (RuntimeException e) {
            ping.completeExceptionally(e);
        }
    }

    /** Drops the connection to a server that is no longer a master; the next connection may lead to the new master. */
    private void dropReplica(Throwable failure) {
        if (failure instanceof RedisCommandExecutionException error
                && RedisErrors.code(String.valueOf(error.getMessage())).equals("READONLY")
                && node.moves()
                && !node.isClosed()) {
            log.info("event=not-a-master endpoints={}", node.endpoints());
            connection.drop();
        }
    }
}

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
import io.mortise.lock.spi.MonotonicTime;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends requests on one connection, each with its deadline, and drops a connection that no longer answers. */
final class NodeRequests {
    private static final Logger log = LoggerFactory.getLogger(NodeRequests.class);

    private final RedisNodeClient node;
    private final NodeConnection connection;
    private final LockClock clock;
    private final Duration limit;
    private final NodeListener listener;
    private final RequestDeadlines deadlines;
    private final OrderedWriter order;
    private final Duration toRead;
    private final AtomicBoolean pinging = new AtomicBoolean();
    private volatile MonotonicTime heardAt;

    /** The listener is told of what fails. */
    NodeRequests(RedisNodeClient node, NodeConnection connection, BackendContext context, NodeListener listener) {
        this.node = node;
        this.connection = connection;
        this.clock = context.clock();
        this.limit = node.requestTimeout();
        this.listener = listener;
        this.heardAt = clock.now();
        this.deadlines = new RequestDeadlines(clock, limit, this::overdue);
        this.toRead = limit.dividedBy(4);
        this.order = new OrderedWriter(connection::elsewhere);
    }

    /** Something came over the connection. On its I/O thread. */
    void heard() {
        order.onWriter();
        heardAt = clock.now();
    }

    /** The reply is told once, within one request timeout. */
    void send(LuaScript script, String[] keys, String[] args, ReplyHandler reply) {
        ScriptCall call = script.isWhole()
                ? ScriptCall.byText(script, keys, args, clock.now(), connection.epoch())
                : ScriptCall.bySha1(script, keys, args, clock.now(), connection.epoch());
        send(call, reply, script, keys, args);
    }

    private void send(ScriptCall call, ReplyHandler reply, LuaScript script, String[] keys, String[] args) {
        call.whenAnswered(this::heard);
        call.whenComplete(
                (answer, failure) -> { // before it is sent: what runs on the I/O thread keeps the server's order
                    call.written();
                    deadlines.ended();
                    if (failure == null) {
                        answered(reply, answer);
                    } else if (failure instanceof RedisNoScriptException) {
                        reply.sentAgain();
                        send(
                                ScriptCall.byText(script, keys, args, call.sentAt(), connection.epoch()),
                                reply,
                                script,
                                keys,
                                args);
                    } else {
                        dropReplica(failure);
                        listener.trouble(node, failure);
                        reply.failed(failure, wasNotExecuted(failure));
                    }
                });
        deadlines.begin(call);
        try {
            order.send(call, () -> dispatch(call));
        } catch (RuntimeException e) { // nobody there to run it: the client is about to end
            call.completeExceptionally(e);
        }
    }

    private void dispatch(ScriptCall call) {
        try {
            connection.made().dispatch(call);
        } catch (RuntimeException e) {
            call.completeExceptionally(e);
        }
    }

    /** Another command than a script. */
    <T> void send(
            Function<RedisPubSubAsyncCommands<String, String>, RedisFuture<T>> command, CompletableFuture<T> answer) {
        try {
            command.apply(connection.made().async()).whenComplete((value, failure) -> {
                if (failure == null) {
                    heardAt = clock.now(); // on whatever thread, if it was answered already
                    answer.complete(value);
                } else {
                    answer.completeExceptionally(failure);
                }
            });
        } catch (RuntimeException e) {
            answer.completeExceptionally(e);
        }
    }

    /** Whatever is odd about an answer, its contender hears of it: nobody may be left waiting. */
    private static void answered(ReplyHandler reply, List<Object> answer) {
        try {
            reply.answered(answer);
        } catch (RuntimeException e) {
            reply.failed(
                    new BackendRefusedException(
                            "the server answered what its scripts do not: " + answer.size() + " values", e),
                    false);
        }
    }

    /** An error that the server answered, or a connection that took nothing. A text that Lettuce changes only costs time. */
    private static boolean wasNotExecuted(Throwable failure) {
        String message = failure.getMessage();
        return failure instanceof RedisCommandExecutionException
                || isReconnecting(failure)
                || (failure instanceof RedisException
                        && message != null
                        && (message.contains("Commands are not accepted") || message.equals("Connection is closed")));
    }

    /** Whether Lettuce took nothing because the connection was lost and is being made anew. */
    static boolean isReconnecting(Throwable failure) {
        String message = failure.getMessage();
        return failure instanceof RedisException && message != null && message.contains("Commands are rejected");
    }

    /**
     * The connection was lost. A client whose options say so would send what was under way again, on the next connection, and
     * the answer to a release would be that nothing is there: what is done is not sent.
     */
    void lost(Throwable cause) {
        order.lost();
        deadlines.endAll(cause);
    }

    private void overdue(ScriptCall call) {
        boolean silent = isSilentSince(call) && !node.isClosed();
        call.completeExceptionally(new BackendUnavailableException(
                "no answer from " + node.endpoints() + " in " + limit.toMillis() + " ms"));
        if (silent && pinging.compareAndSet(false, true)) {
            ping(call);
        }
    }

    private boolean isSilentSince(ScriptCall call) {
        return heardAt.isBefore(call.sentAt()) && call.epoch() == connection.epoch();
    }

    /**
     * After a pause of the process this timer may run long before the thread that has the answers to read. So nothing is decided
     * before that thread has written one question more, and had time to read.
     */
    private void ping(ScriptCall unanswered) {
        ServerPing ping = new ServerPing(() -> clock.schedule(toRead, () -> {
            pinging.set(false);
            if (isSilentSince(unanswered) && !node.isClosed()) {
                // TCP would notice in a quarter of an hour. The outcome of what was sent is found out on the next
                // connection.
                log.info("event=connection-silent endpoints={}", node.endpoints());
                connection.drop();
            }
        }));
        ping.whenComplete((time, failure) -> {
            if (failure == null) {
                heard();
            } else {
                pinging.set(false); // it may never have been written
            }
        });
        try {
            connection.made().dispatch(ping);
        } catch (RuntimeException e) {
            ping.completeExceptionally(e);
        }
    }

    /** It is a master no longer: the next connection leads to the one that is, if somebody knows. */
    private void dropReplica(Throwable failure) {
        if (failure instanceof RedisCommandExecutionException answer
                && RedisErrors.code(String.valueOf(answer.getMessage())).equals("READONLY")
                && node.moves()
                && !node.isClosed()) {
            log.info("event=not-a-master endpoints={}", node.endpoints());
            connection.drop();
        }
    }
}

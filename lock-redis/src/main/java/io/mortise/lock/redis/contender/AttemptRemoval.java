// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.contender;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockException;
import io.mortise.lock.redis.client.RedisErrors;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.redis.script.LuaScript;
import io.mortise.lock.redis.script.ReplyHandler;
import io.mortise.lock.spi.LockRequest;
import java.util.List;

/**
 * The request that removes the grant and the queue entry of one acquire attempt from a server. It serves as release and as
 * withdrawal, and is safe to repeat. Immutable.
 */
public final class AttemptRemoval {
    private final LockRequest request;
    private final LuaScript script;
    private final String[] keys;

    /** Callback for the outcome of one removal. One of its methods is called once, on the connection's I/O thread. */
    public interface Handler {
        /**
         * Receives the reply.
         *
         * @param epoch the epoch of the connection on which it came
         * @param time the server's time; {@link ServerTime#UNKNOWN} if the reply did not contain it
         * @param held whether the attempt held the lock
         * @param queued whether the attempt had a queue entry
         */
        void onRemoved(int epoch, ServerTime time, boolean held, boolean queued);

        /**
         * Receives the reason why there was no reply, or why the script did nothing.
         *
         * @param notExecuted whether the removal certainly was not executed and will not be
         */
        void onFailure(boolean notExecuted, LockException cause);
    }

    /**
     * Creates the removal of one attempt; sends nothing yet.
     *
     * @param script the removal script. Its arguments are the attempt id, and 1 if the reply must contain the time, else 0. Its
     *     reply starts with 1 if the grant existed, else 0. Optional values follow: 1 if the attempt was queued, else 0; the
     *     server's time in µs; 1 if the script must run again for the waiters. If it did nothing, the first value is a string
     *     with the reason, which becomes a {@link BackendUnavailableException}
     */
    public AttemptRemoval(LockRequest request, LuaScript script, String[] keys) {
        this.request = request;
        this.script = script;
        this.keys = keys;
    }

    /** Sends the removal once. */
    public void send(RedisNodeClient node, boolean withTime, Handler handler) {
        send(node, request.attemptId(), withTime, handler);
    }

    private void send(RedisNodeClient node, String attemptId, boolean withTime, Handler handler) {
        String[] args = {attemptId, withTime ? "1" : "0"};
        node.run(script, keys, args, new ReplyHandler() {
            @Override
            public void onReply(List<Object> values) {
                if (values.get(0) instanceof String why) {
                    handler.onFailure(
                            true, new BackendUnavailableException(what() + " at " + node.endpoints() + ": " + why));
                    return;
                }
                boolean held = values.get(0).equals(1L);
                boolean queued = values.size() > 1 && values.get(1).equals(1L);
                ServerTime time = values.size() > 2 ? new ServerTime((Long) values.get(2)) : ServerTime.UNKNOWN;
                if (values.size() > 3) {
                    send(node, serveWaitersOnly(), false, IGNORE); // if it fails, they retry at their fallback time
                }
                handler.onRemoved(node.epoch(), time, held, queued);
            }

            @Override
            public void onFailure(Throwable cause, boolean notExecuted) {
                handler.onFailure(notExecuted, RedisErrors.of(cause, what(), node.endpoints()));
            }
        });
    }

    /**
     * Returns an id with which the script removes nothing. The attempt may have a new grant when the request is executed, which
     * nobody waits for (ADR 0067); and no other grant begins with this id, as it would with the empty string.
     */
    private String serveWaitersOnly() {
        return request.attemptId() + "-";
    }

    private static final Handler IGNORE = new Handler() {
        @Override
        public void onRemoved(int epoch, ServerTime time, boolean held, boolean queued) {}

        @Override
        public void onFailure(boolean notExecuted, LockException cause) {}
    };

    private String what() {
        return "release of lock \"" + request.name() + "\"";
    }
}

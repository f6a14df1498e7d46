// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.script;

import java.util.List;

/** Callback that receives the outcome of one request. Either {@link #onReply} or {@link #onFailure} is called, once. */
public interface ReplyHandler {
    /**
     * Called with the reply on the connection's I/O thread, so {@code RedisNodeClient.epoch()} is that of the connection on
     * which the reply came.
     *
     * @param reply the reply's numbers, as {@link Long}, and strings; a single value is a list of one
     */
    void onReply(List<Object> reply);

    /**
     * Called if the server does not know the script, so that the request is sent again, after requests that were sent meanwhile. A
     * reply to one of those then does not show that this request was executed.
     */
    default void onSentAgain() {}

    /**
     * Called if there was no reply, or the reply was an error.
     *
     * @param cause Lettuce's exception, see {@code RedisErrors}
     * @param notExecuted whether the request certainly was not executed and will not be
     */
    void onFailure(Throwable cause, boolean notExecuted);
}

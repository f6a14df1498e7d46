// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.script;

import java.util.List;

/** Receives the outcome of one request: {@link #answered} or {@link #failed} is called, once. */
public interface ReplyHandler {
    /**
     * On the connection's I/O thread: {@code RedisNodeClient.epoch()} is that of the connection on which it came.
     *
     * @param answer numbers, as {@link Long}, and texts; a single one is a list of one
     */
    void answered(List<Object> answer);

    /** The server did not know the script: it is sent once more, behind what was sent since. Before one of the others. */
    default void sentAgain() {}

    /**
     * No answer, or an error for one.
     *
     * @param cause as Lettuce tells it, see {@code RedisErrors}
     * @param notExecuted it certainly has not been executed, nor will it be
     */
    void failed(Throwable cause, boolean notExecuted);
}

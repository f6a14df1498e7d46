// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

/**
 * Callback for events on a node's connection: connected, lost, message. Told on its I/O thread, or the one that started it: it
 * must not block.
 */
public interface NodeListener {
    /** What was published for this client. */
    void message(RedisNodeClient from, String text);

    /** A connection is made and listens: the first, or another after one was lost; or it must listen anew. */
    void listening(RedisNodeClient node);

    /** It can be used from now on. Once for a node; {@link #listening} came before. */
    default void opened(RedisNodeClient node) {}

    /**
     * It was lost, could not serve a request, or could not be opened: then it is not {@linkplain RedisNodeClient#isUsable()
     * usable}, and will not be.
     */
    default void trouble(RedisNodeClient node, Throwable cause) {}
}

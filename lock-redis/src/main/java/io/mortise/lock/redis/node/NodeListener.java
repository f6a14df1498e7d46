// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

/**
 * Listener for the events of one server's connection, such as messages and failures. It is called on the connection's I/O
 * thread, or on the thread that started the connection, and must not block.
 */
public interface NodeListener {
    /** Called when a message was published for this client. */
    void onMessage(RedisNodeClient from, String text);

    /**
     * Called when a connection has subscribed, be it the first or one after a loss. Also called when a subscription has ended
     * or was refused, so that waiters must subscribe again.
     */
    void onSubscribed(RedisNodeClient node);

    /** Called once per node when its connection can be used, after {@link #onSubscribed}. */
    default void onOpened(RedisNodeClient node) {}

    /**
     * Called when the connection was lost, could not serve a request, or could not be opened. In the last case the node is not
     * {@linkplain RedisNodeClient#isUsable() usable}, and never will be.
     */
    default void onFailure(RedisNodeClient node, Throwable cause) {}
}

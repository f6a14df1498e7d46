// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redis.sentinel.SentinelMasterConfirmation;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Routes requests to the right connection of a Redis deployment: one server, a master behind sentinels, or a cluster. */
interface RedisConnectionRouter extends AutoCloseable {
    /** Returns the servers' addresses for logs and messages, without secrets. */
    String endpoints();

    /** Returns the server that has this lock now; its connection may not be open yet. */
    RedisNodeClient nodeOf(RedisKeyLayout.OfLock lock);

    /**
     * Subscribes to messages from that server for waiters of this lock.
     *
     * @param at a server whose connection is open
     * @return the channel, in the form that the scripts expect
     */
    String listen(RedisNodeClient at, RedisKeyLayout.OfLock lock);

    /** Returns all servers that have locks in a stable order, by the part of the address that distinguishes each of them. */
    Map<String, RedisNodeClient> servers();

    /** Returns the same servers without their addresses. */
    default List<RedisNodeClient> nodes() {
        return List.copyOf(servers().values());
    }

    /** Returns the confirmation by sentinels that a grant needs to count; empty without sentinels. */
    default Optional<SentinelMasterConfirmation> sentinels() {
        return Optional.empty();
    }

    /** Closes the connections and the managed client, if there is one; takes a bounded time and never throws. */
    @Override
    void close();
}

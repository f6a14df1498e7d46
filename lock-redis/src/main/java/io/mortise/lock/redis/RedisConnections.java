// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redis.sentinel.SentinelMasterConfirmation;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Connections to the servers; implementations for one server, Sentinel and Cluster. */
interface RedisConnections extends AutoCloseable {
    /** Where people look for it, without secrets. */
    String endpoints();

    /** The server that has this lock now; it may not be open yet. */
    RedisNodeClient nodeOf(RedisKeyLayout.OfLock lock);

    /**
     * Makes sure that messages for waiters of that lock are heard from there.
     *
     * @param at an open one
     * @return the channel, as the scripts expect it
     */
    String listen(RedisNodeClient at, RedisKeyLayout.OfLock lock);

    /** All servers that have locks, in an order that stays, by what people call each: without what is the same for all. */
    Map<String, RedisNodeClient> servers();

    /** The same servers. */
    default List<RedisNodeClient> nodes() {
        return List.copyOf(servers().values());
    }

    /** The sentinels that must name the server for a grant to count. */
    default Optional<SentinelMasterConfirmation> sentinels() {
        return Optional.empty();
    }

    /** Ends what was opened for it; bounded, never throws. */
    @Override
    void close();
}

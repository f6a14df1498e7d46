// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import java.util.List;

/** The way to the servers: what differs between one server, Sentinel and Cluster. */
interface RedisLink extends AutoCloseable {
    /** Where people look for it, without secrets. */
    String endpoints();

    /** The server that has this lock now. */
    RedisNode nodeOf(RedisKeys.OfLock lock);

    /** All servers that have locks. */
    List<RedisNode> nodes();

    /** Ends what was opened for it; bounded, never throws. */
    @Override
    void close();
}

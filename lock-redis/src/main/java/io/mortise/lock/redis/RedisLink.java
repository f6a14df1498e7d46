// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.redis.node.RedisNode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.LoggerFactory;

/** The way to the servers: what differs between one server, Sentinel and Cluster. */
interface RedisLink extends AutoCloseable {
    /** The core has waited for a whole request timeout already if the server is silent. */
    Duration CLOSE_LIMIT = Duration.ofMillis(1_500);

    /** Where people look for it, without secrets. */
    String endpoints();

    /** The server that has this lock now; it may not be open yet. */
    RedisNode nodeOf(RedisKeys.OfLock lock);

    /**
     * Makes sure that messages for waiters of that lock are heard from there.
     *
     * @param at an open one
     * @return the channel, as the scripts expect it
     */
    String listen(RedisNode at, RedisKeys.OfLock lock);

    /** All servers that have locks, in an order that stays. */
    List<RedisNode> nodes();

    /** Ends what was opened for it; bounded, never throws. */
    @Override
    void close();

    /** Waits for that, but not for long. */
    static void awaitEnd(Future<?> ended, Duration requestTimeout, String endpoints) {
        Duration limit = requestTimeout.compareTo(CLOSE_LIMIT) < 0 ? requestTimeout : CLOSE_LIMIT;
        try {
            ended.get(limit.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            LoggerFactory.getLogger(RedisLink.class)
                    .warn("event=close-incomplete endpoints={} cause=\"{}\"", endpoints, e.toString());
        }
    }
}

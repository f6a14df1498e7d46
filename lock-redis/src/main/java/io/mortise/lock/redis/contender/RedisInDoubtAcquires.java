// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.contender;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.redis.node.ServerTime;

/**
 * Acquire requests of one contender that had no answer, and may still be executed (S8). It cannot any more when a later
 * request was answered on the same connection, or when the server's clock has passed the time after which the script refuses
 * it. Thread-safe.
 */
final class RedisInDoubtAcquires {
    @GuardedBy("this")
    private boolean any;

    @GuardedBy("this")
    private int lowestEpoch;

    @GuardedBy("this")
    private int highestEpoch;

    @GuardedBy("this")
    private ServerTime latestNotAfter = ServerTime.UNKNOWN;

    /** One that was sent no earlier than in that epoch has no answer. */
    synchronized void add(int epoch, ServerTime notAfter) {
        lowestEpoch = any ? Math.min(lowestEpoch, epoch) : epoch;
        highestEpoch = any ? Math.max(highestEpoch, epoch) : epoch;
        latestNotAfter = any && notAfter.isBefore(latestNotAfter) ? latestNotAfter : notAfter;
        any = true;
    }

    synchronized boolean any() {
        return any;
    }

    /**
     * A later request was answered.
     *
     * @param epoch of the connection on which the answer came
     * @param time the server's time in that answer
     * @return whether nothing can come after it
     */
    synchronized boolean resolvedBy(int epoch, ServerTime time) {
        boolean allBefore = lowestEpoch == epoch && highestEpoch == epoch;
        any = any && !allBefore && !latestNotAfter.isBefore(time);
        return !any;
    }
}

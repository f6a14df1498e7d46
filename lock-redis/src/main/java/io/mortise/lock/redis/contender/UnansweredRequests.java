// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.contender;

import com.google.errorprone.annotations.concurrent.GuardedBy;

/**
 * Acquire requests of one contender that had no answer, and may still be executed (S8). It cannot any more when a later
 * request was answered on the same connection, or when the server's clock has passed the time after which the script refuses
 * it. Thread-safe.
 */
final class UnansweredRequests {
    @GuardedBy("this")
    private boolean any;

    @GuardedBy("this")
    private int lowestEpoch;

    @GuardedBy("this")
    private int highestEpoch;

    @GuardedBy("this")
    private long latestNotAfter;

    /** One that was sent no earlier than in that epoch has no answer. */
    synchronized void add(int epoch, long notAfterMicros) {
        lowestEpoch = any ? Math.min(lowestEpoch, epoch) : epoch;
        highestEpoch = any ? Math.max(highestEpoch, epoch) : epoch;
        latestNotAfter = any ? Math.max(latestNotAfter, notAfterMicros) : notAfterMicros;
        any = true;
    }

    synchronized boolean any() {
        return any;
    }

    /**
     * A later request was answered.
     *
     * @param epoch of the connection on which the answer came
     * @param serverMicros the server's time in that answer
     * @return whether nothing can come after it
     */
    synchronized boolean resolvedBy(int epoch, long serverMicros) {
        boolean allBefore = lowestEpoch == epoch && highestEpoch == epoch;
        any = any && !allBefore && serverMicros <= latestNotAfter;
        return !any;
    }
}

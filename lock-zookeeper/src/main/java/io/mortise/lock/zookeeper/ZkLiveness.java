// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import io.mortise.lock.LossReason;
import io.mortise.lock.spi.Liveness;
import io.mortise.lock.spi.LockClock;
import java.time.Duration;

/**
 * The session's: what all its grants hang on. Proved by an answered {@code sync}, which only a server in touch with its
 * leader can give; a server that is cut off from it goes on answering pings.
 */
final class ZkLiveness extends Liveness {
    private final ZkSession session;
    private final Duration timeout;

    /**
     * Of a session whose first sync was answered.
     *
     * @param timeout as negotiated
     */
    ZkLiveness(ZkSession session, LockClock clock, Duration timeout, long sentNanos) {
        super(clock, timeout.dividedBy(5), LockClock.deadline(sentNanos, proved(timeout)));
        this.session = session;
        this.timeout = timeout;
    }

    /**
     * How long an answered sync proves the session, from its send. Not the whole timeout: the leader may have heard of the
     * session for the last time up to half a tick, at most a quarter of the timeout, before.
     */
    private static Duration proved(Duration timeout) {
        return timeout.multipliedBy(3).dividedBy(4);
    }

    void syncAnswered(long sentNanos) {
        extend(LockClock.deadline(sentNanos, proved(timeout)));
    }

    /** The session timeout as negotiated. */
    Duration timeout() {
        return timeout;
    }

    ZkSession session() {
        return session;
    }

    @Override
    protected void onLost(LossReason reason) {
        session.over(reason);
    }
}

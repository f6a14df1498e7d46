// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.LossReason;
import io.mortise.lock.spi.Liveness;
import io.mortise.lock.spi.LockClock;
import java.time.Duration;

/**
 * The session's: what all its grants hang on. Proved by an answered {@code sync}, which only a server in touch with its
 * leader can give; a server that is cut off from it goes on answering pings.
 *
 * <p>The {@code sync} itself does not touch the session at the leader: the follower reports who was active, every half tick,
 * at most a quarter of the timeout. So what the leader knows is that much older than the latest proof; and older still when
 * there was a silence right before it, as after a pause of this JVM.
 */
final class ZkLiveness extends Liveness {
    private final ZkSession session;
    private final Duration timeout;

    /** The latest answered sync, by when it was sent. */
    @GuardedBy("this")
    private long latest;

    @GuardedBy("this")
    private long silentFrom;

    @GuardedBy("this")
    private long silentUntil;

    @GuardedBy("this")
    private boolean wasSilent;

    /**
     * Of a session whose first sync was answered.
     *
     * @param timeout as negotiated
     */
    ZkLiveness(ZkSession session, LockClock clock, Duration timeout, long sentNanos) {
        super(clock, timeout.dividedBy(5), LockClock.deadline(sentNanos, proved(timeout)));
        this.session = session;
        this.timeout = timeout;
        this.latest = sentNanos;
    }

    /** How long an answered sync proves the session, from its send: what the leader heard last may be a quarter older. */
    private static Duration proved(Duration timeout) {
        return timeout.multipliedBy(3).dividedBy(4);
    }

    /**
     * A renewal succeeded.
     *
     * @return whether the silence before it was so long that it proves little: another should follow in {@link #reportTime}
     */
    boolean syncAnswered(long sentNanos) {
        long until = LockClock.deadline(sentNanos, proved(timeout));
        boolean afterSilence;
        synchronized (this) {
            long report = reportTime().toNanos();
            afterSilence = sentNanos - latest > report;
            if (afterSilence) {
                silentFrom = latest;
                silentUntil = sentNanos;
                wasSilent = true;
            }
            if (wasSilent && sentNanos - silentUntil <= report) {
                until = Math.min(
                        until, LockClock.deadline(silentFrom, timeout)); // the leader may know of nothing later
            }
            latest = sentNanos - latest > 0 ? sentNanos : latest;
        }
        extend(until);
        return afterSilence;
    }

    /** After so long the leader knows of what a follower knows: half a tick, and a session has at least two. */
    Duration reportTime() {
        return timeout.dividedBy(4);
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

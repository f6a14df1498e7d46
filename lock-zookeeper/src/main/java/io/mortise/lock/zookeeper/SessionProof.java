// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.spi.LockClock;
import java.time.Duration;

/**
 * How long an answered {@code sync} proves a session. The {@code sync} itself does not touch the session at the leader: a
 * follower reports who was active, every half tick, at most a quarter of the timeout. So what the leader of a follower that
 * is cut off knows may be that much older than the latest proof; and older still when there was a silence right before it,
 * as after a pause of this JVM. Arithmetic on instants of the monotonic clock; thread-safe.
 */
final class SessionProof {
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

    /** Of a session whose first sync was sent then, and answered. */
    SessionProof(Duration timeout, long sentNanos) {
        this.timeout = timeout;
        this.latest = sentNanos;
    }

    /** Until when the session certainly stands by this one alone, when all before it came in time. */
    static long until(Duration timeout, long sentNanos) {
        return LockClock.deadline(sentNanos, timeout.multipliedBy(3).dividedBy(4));
    }

    /** Another sync was answered: until when the session certainly stands by it. */
    synchronized long answered(long sentNanos) {
        long report = reportTime().toNanos();
        if (sentNanos - latest > report) {
            silentFrom = latest;
            silentUntil = sentNanos;
            wasSilent = true;
        }
        if (sentNanos - latest > 0) {
            latest = sentNanos;
        }
        long until = until(timeout, sentNanos);
        if (!isFreshAfterSilence(sentNanos)) {
            return until;
        }
        long known = LockClock.deadline(silentFrom, timeout); // the leader may know of nothing later
        return known - until < 0 ? known : until;
    }

    /** Whether this one came so soon after a silence that it proves little: another should follow {@link #reportTime} later. */
    synchronized boolean isFreshAfterSilence(long sentNanos) {
        return wasSilent && sentNanos - silentUntil <= reportTime().toNanos();
    }

    /** After so long the leader knows what a follower knows: half a tick, and a session has at least two. */
    Duration reportTime() {
        return timeout.dividedBy(4);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;

/**
 * Tracks whether one master replies in time. Thread-safe.
 *
 * <p>No votes are requested from a lagging master, since none would count and each would have to be cleaned up. Requests resume
 * once the master has replied to a handshake in time.
 */
public final class MasterHealth {
    /** Number of missing replies in a row that shows that a master lags: single late replies occur by chance. */
    static final int MAX_MISSING_REPLIES = 3;

    private final LockClock clock;

    private volatile int missingReplies; // in a row

    @GuardedBy("this")
    private MonotonicInstant inTimeSince;

    private volatile boolean lagging;

    MasterHealth(LockClock clock) {
        this.clock = clock;
        this.inTimeSince = clock.now();
    }

    /** Records that the master has replied to a vote request in time. */
    public void replyReceived() {
        if (missingReplies != 0) { // avoids the monitor in the common case
            synchronized (this) {
                missingReplies = 0;
            }
        }
    }

    /** Records that the master has replied to a handshake in time, so that earlier requests no longer count. */
    synchronized void handshakeSucceeded() {
        missingReplies = 0;
        inTimeSince = clock.now();
        lagging = false;
    }

    /**
     * Records that the master has not replied in time to a request that was sent at the given time.
     *
     * @return true once, when the master starts to lag; the caller then repeats the handshake until it succeeds
     */
    synchronized boolean replyMissing(MonotonicInstant sent) {
        if (lagging || sent.isBefore(inTimeSince) || ++missingReplies < MAX_MISSING_REPLIES) {
            return false;
        }
        lagging = true;
        return true;
    }

    boolean isLagging() {
        return lagging;
    }
}

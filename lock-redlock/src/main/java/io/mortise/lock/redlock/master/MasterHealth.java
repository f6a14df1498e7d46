// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicTime;

/**
 * Tracks whether one master answers in time. A lagging master is not asked for votes, since none would count and each would have to
 * be cleaned up; it is asked again once it has answered a handshake in time. Thread-safe.
 */
public final class MasterHealth {
    /** Single late answers happen by chance. */
    static final int MAX_UNANSWERED = 3;

    private final LockClock clock;

    private volatile int unanswered; // in a row

    @GuardedBy("this")
    private MonotonicTime inTimeSince;

    private volatile boolean lagging;

    MasterHealth(LockClock clock) {
        this.clock = clock;
        this.inTimeSince = clock.now();
    }

    /** Records that the master has answered a vote in time. */
    public void answered() {
        if (unanswered != 0) { // skips the monitor in the common case
            synchronized (this) {
                unanswered = 0;
            }
        }
    }

    /** Records that the master has answered a handshake in time, so that earlier requests no longer matter. */
    synchronized void handshakeSucceeded() {
        unanswered = 0;
        inTimeSince = clock.now();
        lagging = false;
    }

    /**
     * Records that the master has not answered in time a request that was sent at the given time.
     *
     * @return true once, when the master starts to lag: the caller repeats the handshake until it succeeds
     */
    synchronized boolean unanswered(MonotonicTime sent) {
        if (lagging || sent.isBefore(inTimeSince) || ++unanswered < MAX_UNANSWERED) {
            return false;
        }
        lagging = true;
        return true;
    }

    boolean isLagging() {
        return lagging;
    }
}

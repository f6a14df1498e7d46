// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.spi.LockClock;

/**
 * Whether one master answers in time. One that does not, though it lives, is not asked for votes: none would count, and each
 * would have to be taken back. It is asked again once it has answered a greeting in time. Thread-safe.
 */
final class Pace {
    /** One may be late by chance. */
    static final int MOST_UNANSWERED = 3;

    private final LockClock clock;

    private volatile int unanswered; // in a row, as far as it matters

    @GuardedBy("this")
    private long inTimeSince;

    private volatile boolean lags;

    Pace(LockClock clock) {
        this.clock = clock;
        this.inTimeSince = clock.nanoTime();
    }

    /** It has answered a vote in time. */
    void answered() {
        if (unanswered != 0) { // as a rule it is not, and no monitor is needed
            synchronized (this) {
                unanswered = 0;
            }
        }
    }

    /** It has answered a greeting in time: what was sent before that says nothing any more. */
    synchronized void greeted() {
        unanswered = 0;
        inTimeSince = clock.nanoTime();
        lags = false;
    }

    /**
     * It has not answered in time what was sent then.
     *
     * @return true once: it is to be greeted until it answers that in time
     */
    synchronized boolean unanswered(long sentNanos) {
        if (lags || sentNanos - inTimeSince < 0 || ++unanswered < MOST_UNANSWERED) {
            return false;
        }
        lags = true;
        return true;
    }

    boolean lags() {
        return lags;
    }
}

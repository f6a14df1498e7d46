// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core;

import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How long one acquisition waits: for a busy lock its maxWait, for a silent store until that counts as unavailable (S9, S15).
 * Decides nothing by itself.
 *
 * @param maxWait null: until withdrawn; zero: one attempt
 * @param started when it began, on the clock
 */
record Patience(
        LockClock clock,
        Contact contact,
        @Nullable Duration maxWait,
        Duration requestTimeout,
        Duration unavailableAfter,
        Duration leaseDuration,
        long started) {

    boolean mayWait() {
        return maxWait == null || !maxWait.isZero();
    }

    /** Until its time is over, null for never; a single attempt has one request timeout. */
    @Nullable
    Duration left() {
        if (maxWait == null) {
            return null;
        }
        return (mayWait() ? maxWait : requestTimeout).minus(waited());
    }

    /** An unbounded wait has been without contact for too long. */
    boolean storeGone() {
        return maxWait == null && outage().compareTo(unavailableAfter) >= 0;
    }

    /** The pause before the next try, shortened so that {@link #storeGone} is noticed in time. */
    Duration pause(Duration backoff) {
        Duration left = unavailableAfter.minus(outage());
        return maxWait == null && left.compareTo(backoff) < 0 ? left : backoff;
    }

    /** "Busy" is believed only while the last contact is younger than one request timeout or renewal period. */
    boolean busyIsFresh() {
        Duration renewal = leaseDuration.dividedBy(3);
        return contact.within(requestTimeout.compareTo(renewal) > 0 ? requestTimeout : renewal);
    }

    /** Without contact for so long, as far as this acquisition has seen it. */
    private Duration outage() {
        Duration silent = contact.since();
        return waited().compareTo(silent) < 0 ? waited() : silent;
    }

    private Duration waited() {
        return Duration.ofNanos(clock.nanoTime() - started);
    }
}

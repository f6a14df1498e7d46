// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.acquire;

import io.mortise.lock.core.runtime.LastResponse;
import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Decides how long one acquire waits for a busy lock, and for a silent store (S9, S15). Decides nothing by itself.
 *
 * @param maxWait null: until withdrawn; zero: one attempt
 * @param started when it began, on the clock
 */
public record WaitPolicy(
        LockClock clock,
        LastResponse lastResponse,
        @Nullable Duration maxWait,
        Duration requestTimeout,
        Duration unavailableAfter,
        Duration leaseDuration,
        long started) {

    boolean mayWait() {
        return maxWait == null || !maxWait.isZero();
    }

    /** Until its time has passed, null for never; a single attempt has one request timeout. */
    @Nullable
    Duration left() {
        if (maxWait == null) {
            return null;
        }
        return (mayWait() ? maxWait : requestTimeout).minus(waited());
    }

    /** An unbounded wait, and no answer for too long. */
    boolean storeGone(long failingSince) {
        return maxWait == null && outage(failingSince).compareTo(unavailableAfter) >= 0;
    }

    /** It has waited that long itself, behind one whose attempts had no answer for that long. */
    boolean storeGoneForTheOneBefore() {
        return storeGone(started);
    }

    /** The pause after a failure, shortened so that {@link #storeGone} is noticed in time. */
    Duration pauseAfterFailure(Duration backoff, long failingSince) {
        Duration left = unavailableAfter.minus(outage(failingSince));
        return maxWait == null && left.compareTo(backoff) < 0 ? left : backoff;
    }

    /**
     * How long there has been no answer: to its own attempts, since the first of them was sent, or to anything that this
     * client asked while it waited. Time in which nobody asked does not count.
     */
    private Duration outage(long failingSince) {
        Duration own = since(failingSince);
        Duration clients = lastResponse.failing().compareTo(waited()) < 0 ? lastResponse.failing() : waited();
        return own.compareTo(clients) > 0 ? own : clients;
    }

    /**
     * The pause after "busy". A bounded wait asks again before that answer is too old to be believed: a healthy store must not
     * look silent because nobody asked it.
     */
    Duration pauseAfterBusy(Duration jittered) {
        if (maxWait == null) {
            return jittered;
        }
        Duration longest = freshness().multipliedBy(7).dividedBy(10);
        return longest.compareTo(jittered) < 0 ? longest : jittered;
    }

    /** "Busy" is believed only while the last response is younger than one request timeout or renewal period. */
    boolean busyIsFresh() {
        return lastResponse.within(freshness());
    }

    private Duration freshness() {
        Duration renewal = leaseDuration.dividedBy(3);
        return requestTimeout.compareTo(renewal) > 0 ? requestTimeout : renewal;
    }

    Duration since(long then) {
        return Duration.ofNanos(clock.nanoTime() - then);
    }

    private Duration waited() {
        return since(started);
    }
}

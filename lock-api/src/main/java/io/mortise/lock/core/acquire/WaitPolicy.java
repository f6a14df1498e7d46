// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.acquire;

import io.mortise.lock.core.runtime.LastResponse;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicTime;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Decides how long one acquire waits for a busy lock, and for a silent store (S9, S15). Decides nothing by itself.
 *
 * @param maxWait null: until withdrawn; zero: one attempt
 * @param started when it began
 */
public record WaitPolicy(
        LockClock clock,
        LastResponse lastResponse,
        @Nullable Duration maxWait,
        Duration requestTimeout,
        Duration unavailableAfter,
        Duration leaseDuration,
        MonotonicTime started) {

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
    boolean storeGone(MonotonicTime failingSince) {
        return maxWait == null && outage(failingSince).compareTo(unavailableAfter) >= 0;
    }

    /** It has waited that long itself, behind one whose attempts had no answer for that long. */
    boolean storeGoneForTheOneBefore() {
        return storeGone(started);
    }

    /** The pause after a failure, shortened so that {@link #storeGone} is noticed in time. */
    Duration pauseAfterFailure(Duration backoff, MonotonicTime failingSince) {
        Duration left = unavailableAfter.minus(outage(failingSince));
        return maxWait == null ? Durations.shorter(left, backoff) : backoff;
    }

    /**
     * How long there has been no answer: to its own attempts, since the first of them was sent, or to anything that this
     * client asked while it waited. Time in which nobody asked does not count.
     */
    private Duration outage(MonotonicTime failingSince) {
        Duration own = since(failingSince);
        Duration clients = Durations.shorter(lastResponse.failing(), waited());
        return Durations.longer(own, clients);
    }

    /**
     * The pause after "busy". A bounded wait asks again before that answer is too old to be believed: a healthy store must not
     * look silent because nobody asked it.
     */
    Duration pauseAfterBusy(Duration jittered) {
        if (maxWait == null) {
            return jittered;
        }
        Duration longest = Durations.divide(freshness(), 10).multipliedBy(7);
        return Durations.shorter(longest, jittered);
    }

    /** "Busy" is believed only while the last response is younger than one request timeout or renewal period. */
    boolean busyIsFresh() {
        return lastResponse.within(freshness());
    }

    private Duration freshness() {
        Duration renewal = Durations.divide(leaseDuration, 3);
        return Durations.longer(requestTimeout, renewal);
    }

    Duration since(MonotonicTime then) {
        return clock.since(then);
    }

    private Duration waited() {
        return since(started);
    }
}

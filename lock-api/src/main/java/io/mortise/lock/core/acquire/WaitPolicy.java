// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.acquire;

import io.mortise.lock.core.runtime.LastResponse;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Calculates how long one acquire operation waits for a busy lock, and for a store that does not respond. See S9 and S15.
 * Immutable.
 *
 * @param maxWait the longest wait; null for no limit, zero for one attempt
 * @param started when the operation started
 */
public record WaitPolicy(
        LockClock clock,
        LastResponse lastResponse,
        @Nullable Duration maxWait,
        Duration requestTimeout,
        Duration unavailableAfter,
        Duration leaseDuration,
        MonotonicInstant started) {

    boolean mayWait() {
        return maxWait == null || !maxWait.isZero();
    }

    /** Returns the time until the limit, which is one request timeout for a single attempt; null if there is no limit. */
    @Nullable
    Duration remaining() {
        if (maxWait == null) {
            return null;
        }
        return (mayWait() ? maxWait : requestTimeout).minus(waited());
    }

    /** Returns whether the wait has no limit and the store has not responded for too long. */
    boolean outageTooLong(MonotonicInstant failingSince) {
        return maxWait == null && outage(failingSince).compareTo(unavailableAfter) >= 0;
    }

    /** Returns whether the operation has itself waited for as long as an outage may last, behind another one in the queue. */
    boolean waitedThroughOutage() {
        return outageTooLong(started);
    }

    /** Returns the pause after a failure, shortened so that {@link #outageTooLong} is checked in time. */
    Duration pauseAfterFailure(Duration backoff, MonotonicInstant failingSince) {
        Duration left = unavailableAfter.minus(outage(failingSince));
        return maxWait == null ? Durations.shorter(left, backoff) : backoff;
    }

    /**
     * Returns the length of the outage: the time without a response to the attempts of this operation, or to any request of the
     * client while this operation waited. It counts from the first request without a response; time without requests does not
     * count.
     */
    private Duration outage(MonotonicInstant failingSince) {
        Duration own = since(failingSince);
        Duration clients = Durations.shorter(lastResponse.failing(), waited());
        return Durations.longer(own, clients);
    }

    /**
     * Returns the pause after "busy". A bounded wait retries before that result is too old to count: otherwise a healthy store
     * would look unavailable, only because no request was sent.
     */
    Duration pauseAfterBusy(Duration jittered) {
        if (maxWait == null) {
            return jittered;
        }
        Duration longest = Durations.divide(longestAgeOfBusy(), 10).multipliedBy(7);
        return Durations.shorter(longest, jittered);
    }

    /**
     * Returns whether "busy" still counts: the last response is younger than a request timeout or a renewal period, whichever is
     * longer.
     */
    boolean busyIsRecent() {
        return lastResponse.within(longestAgeOfBusy());
    }

    private Duration longestAgeOfBusy() {
        Duration renewal = Durations.divide(leaseDuration, 3);
        return Durations.longer(requestTimeout, renewal);
    }

    Duration since(MonotonicInstant then) {
        return clock.since(then);
    }

    private Duration waited() {
        return since(started);
    }
}

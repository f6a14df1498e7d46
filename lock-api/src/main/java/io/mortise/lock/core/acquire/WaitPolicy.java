// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.acquire;

import io.mortise.lock.core.runtime.StoreContact;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Calculates how long one acquire operation waits for a busy lock, and for a store that does not respond. See S9 and S15.
 * Pure: the caller passes the present instant, and what is known of the store. Immutable.
 *
 * @param maxWait the longest wait; null for no limit, zero for one attempt
 * @param started when the operation started
 */
public record WaitPolicy(
        @Nullable Duration maxWait,
        Duration requestTimeout,
        Duration unavailableAfter,
        Duration leaseDuration,
        MonotonicInstant started) {

    boolean mayWait() {
        return maxWait == null || !maxWait.isZero();
    }

    /** Returns when the wait ends, which is after one request timeout for a single attempt; null if there is no limit. */
    @Nullable
    MonotonicInstant deadline() {
        if (maxWait == null) {
            return null;
        }
        return started.plus(mayWait() ? maxWait : requestTimeout);
    }

    /** Returns whether the wait has no limit and the store has not responded for too long. */
    boolean outageTooLong(MonotonicInstant failingSince, MonotonicInstant now, StoreContact contact) {
        return maxWait == null && outage(failingSince, now, contact).compareTo(unavailableAfter) >= 0;
    }

    /** Returns whether the client's requests have failed for too long while the operation waited, behind another one in the queue. */
    boolean waitedThroughOutage(MonotonicInstant now, StoreContact contact) {
        return outageTooLong(now, now, contact); // it has sent no request of its own
    }

    /** Returns the pause after a failure, shortened so that {@link #outageTooLong} is checked in time. */
    Duration pauseAfterFailure(
            Duration backoff, MonotonicInstant failingSince, MonotonicInstant now, StoreContact contact) {
        Duration left = unavailableAfter.minus(outage(failingSince, now, contact));
        return maxWait == null ? Durations.shorter(left, backoff) : backoff;
    }

    /**
     * Returns the length of the outage: the time without a response to the attempts of this operation, or to any request of the
     * client while this operation waited. It counts from the first request without a response; time without requests does not
     * count.
     */
    private Duration outage(MonotonicInstant failingSince, MonotonicInstant now, StoreContact contact) {
        Duration own = failingSince.until(now);
        Duration clients = Durations.shorter(contact.failing(now), started.until(now));
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
    boolean busyIsRecent(MonotonicInstant now, StoreContact contact) {
        return contact.since(now).compareTo(longestAgeOfBusy()) < 0;
    }

    private Duration longestAgeOfBusy() {
        Duration renewal = Durations.divide(leaseDuration, 3);
        return Durations.longer(requestTimeout, renewal);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.Optional;

/**
 * Decides how long a connecting client waits for a majority of the masters to be able to vote. Pure; not thread-safe.
 *
 * <p>The client waits as long as masters need to leave quarantine. If anything else prevents a majority, it waits for the
 * connect timeout.
 */
final class ConnectWaitPolicy {
    /** Minimum length of a quarantine that is logged. */
    private static final Duration MIN_LOGGED_WAIT = Duration.ofSeconds(1);

    /** The decision of one check. */
    enum Decision {
        WAIT,
        /** Wait, and log that a quarantine is the reason; returned once. */
        LOG_AND_WAIT,
        GIVE_UP
    }

    private final Duration connectTimeout;
    private final Duration longest;
    private final MonotonicInstant start;
    private MonotonicInstant lastPredicted; // when a majority was last only a matter of time
    private boolean logged;

    ConnectWaitPolicy(Duration connectTimeout, Duration maxLease, MonotonicInstant start) {
        this.connectTimeout = connectTimeout;
        // One quarantine, the wait for masters that know the counters, and the connect timeout before and after.
        this.longest = connectTimeout.plus(maxLease).multipliedBy(2);
        this.start = start;
        this.lastPredicted = start;
    }

    /**
     * Decides whether the client waits any longer.
     *
     * @param majorityIn time until a majority votes if only quarantines prevent it; empty if anything else prevents it
     */
    Decision decide(MonotonicInstant now, Optional<Duration> majorityIn) {
        if (start.until(now).compareTo(longest) >= 0) {
            return Decision.GIVE_UP;
        }
        if (majorityIn.isEmpty()) {
            return lastPredicted.until(now).compareTo(connectTimeout) >= 0 ? Decision.GIVE_UP : Decision.WAIT;
        }
        lastPredicted = now;
        if (logged || majorityIn.get().compareTo(MIN_LOGGED_WAIT) < 0) {
            return Decision.WAIT;
        }
        logged = true;
        return Decision.LOG_AND_WAIT;
    }

    /** Returns the time after which the client gives up in any case. */
    Duration longest() {
        return longest;
    }
}

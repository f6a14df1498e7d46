// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import io.mortise.lock.spi.MonotonicTime;
import java.time.Duration;
import java.util.Optional;

/**
 * Decides how long a client that connects waits for a majority to vote. Pure; not thread-safe.
 *
 * <p>It waits as long as masters need to leave quarantine, and for the connect timeout where anything else is missing.
 */
final class ConnectWaitPolicy {
    /** A shorter quarantine is not logged. */
    private static final Duration MIN_LOGGED_WAIT = Duration.ofSeconds(1);

    enum Decision {
        WAIT,
        /** Wait, and log once that a quarantine is the reason. */
        LOG_AND_WAIT,
        GIVE_UP
    }

    private final Duration connectTimeout;
    private final Duration longest;
    private final MonotonicTime start;
    private MonotonicTime lastExplained;
    private boolean logged;

    ConnectWaitPolicy(Duration connectTimeout, Duration maxLease, MonotonicTime start) {
        this.connectTimeout = connectTimeout;
        // A quarantine, the wait for masters that know the counters, and the connect timeout before and after.
        this.longest = connectTimeout.plus(maxLease).multipliedBy(2);
        this.start = start;
        this.lastExplained = start;
    }

    /** @param majorityIn in what time a majority votes if it needs nothing but time; empty if something else is missing */
    Decision decide(MonotonicTime now, Optional<Duration> majorityIn) {
        if (start.until(now).compareTo(longest) >= 0) {
            return Decision.GIVE_UP;
        }
        if (majorityIn.isEmpty()) {
            return lastExplained.until(now).compareTo(connectTimeout) >= 0 ? Decision.GIVE_UP : Decision.WAIT;
        }
        lastExplained = now;
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

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import java.time.Duration;
import java.util.Optional;

/**
 * Decides how long a client that opens waits for a majority to vote: as long as masters need that may have forgotten their votes, and
 * for the connect timeout where anything else is missing. Pure; not thread-safe.
 */
final class QuorumWait {
    /** A shorter wait is not worth a word. */
    private static final Duration NOTABLE = Duration.ofSeconds(1);

    enum Next {
        WAIT,
        /** The first time that it is known what is waited for. */
        SAY_AND_WAIT,
        GIVE_UP
    }

    private final Duration connectTimeout;
    private final Duration longest;
    private final long startNanos;
    private long explainedNanos;
    private boolean said;

    QuorumWait(Duration connectTimeout, Duration maxLease, long startNanos) {
        this.connectTimeout = connectTimeout;
        // A quarantine, the wait for those who know the counters, and the connect timeout before and after.
        this.longest = connectTimeout.plus(maxLease).multipliedBy(2);
        this.startNanos = startNanos;
        this.explainedNanos = startNanos;
    }

    /** @param quorumIn in what time a majority votes if all that it needs is time: empty if something else is missing */
    Next at(long nowNanos, Optional<Duration> quorumIn) {
        if (nowNanos - startNanos >= longest.toNanos()) {
            return Next.GIVE_UP;
        }
        if (quorumIn.isEmpty()) {
            return nowNanos - explainedNanos >= connectTimeout.toNanos() ? Next.GIVE_UP : Next.WAIT;
        }
        explainedNanos = nowNanos;
        if (said || quorumIn.get().compareTo(NOTABLE) < 0) {
            return Next.WAIT;
        }
        said = true;
        return Next.SAY_AND_WAIT;
    }

    /** It gives up after so long, whatever happens. */
    Duration longest() {
        return longest;
    }
}

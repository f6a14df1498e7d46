// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import io.mortise.lock.spi.support.Durations;
import java.time.Duration;

/**
 * Computes when the command gets TERM and KILL, before the deadline of the lease. Both are shares of the lease, so that a
 * short one leaves the command some time, and a long one no more than it needs.
 *
 * @param terminateAt so much is left when it is asked to end: a third of the lease, when one renewal has failed at least
 * @param killAt so much is left when it is killed: a sixth, at most a second
 */
record KillSchedule(Duration terminateAt, Duration killAt) {
    private static final int TERMINATE_SHARE = 3;
    private static final int KILL_SHARE = 6;
    private static final Duration LONGEST_KILL = Duration.ofSeconds(1);

    /** @param lease the most that was ever left of it */
    static KillSchedule of(Duration lease) {
        Duration share = lease.dividedBy(KILL_SHARE);
        return new KillSchedule(lease.dividedBy(TERMINATE_SHARE), Durations.shorter(share, LONGEST_KILL));
    }
}

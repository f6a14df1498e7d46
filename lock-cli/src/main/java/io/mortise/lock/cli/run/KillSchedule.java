// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import io.mortise.lock.spi.support.Durations;
import java.time.Duration;

/**
 * Determines when {@code lockctl run} sends TERM, and then KILL, to its command, in time before the lease expires. Both times
 * are shares of the lease, so that a command under a short lease has some time to end, and one under a long lease is not ended
 * too early.
 *
 * @param terminateAt the remaining lease at which the command gets TERM: a third, when at least one renewal has failed
 * @param killAt the remaining lease at which the command gets KILL: a sixth, at most one second
 */
record KillSchedule(Duration terminateAt, Duration killAt) {
    private static final int TERMINATE_SHARE = 3;
    private static final int KILL_SHARE = 6;
    private static final Duration MAX_KILL = Duration.ofSeconds(1);

    /** @param lease the longest remaining lease that was observed */
    static KillSchedule of(Duration lease) {
        Duration share = lease.dividedBy(KILL_SHARE);
        return new KillSchedule(lease.dividedBy(TERMINATE_SHARE), Durations.shorter(share, MAX_KILL));
    }
}

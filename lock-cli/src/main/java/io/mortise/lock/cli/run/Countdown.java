// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import java.time.Duration;

/**
 * When the command is asked to end, and when it is killed, before the deadline of a lease. Both are shares of the lease, so
 * that a short one leaves the command some time, and a long one no more than it needs.
 *
 * @param terminateAt so much is left when it is asked to end: a third of the lease, when one renewal has failed at least
 * @param killAt so much is left when it is killed: a sixth, at most a second
 */
record Countdown(Duration terminateAt, Duration killAt) {
    private static final int TERMINATE_SHARE = 3;
    private static final int KILL_SHARE = 6;
    private static final Duration LONGEST_KILL = Duration.ofSeconds(1);

    /** @param lease the most that was ever left of it */
    static Countdown of(Duration lease) {
        Duration share = lease.dividedBy(KILL_SHARE);
        return new Countdown(
                lease.dividedBy(TERMINATE_SHARE), share.compareTo(LONGEST_KILL) < 0 ? share : LONGEST_KILL);
    }
}

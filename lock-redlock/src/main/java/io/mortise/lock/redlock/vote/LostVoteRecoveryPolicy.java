// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.vote;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.Arrays;
import java.util.BitSet;
import java.util.function.IntPredicate;

/**
 * Decides which lost votes of a grant may be requested again. Pure; thread-safe.
 *
 * <p>A vote that was last seen one lease duration ago may have expired, or may have been lost in a restart, since a restarted
 * master is in quarantine for at least that long. A vote that disappears earlier was deleted, and is not requested again (ADR
 * 0042).
 */
public final class LostVoteRecoveryPolicy {
    private final IntPredicate granted;
    private final Duration leaseDuration;

    @GuardedBy("this")
    private final MonotonicInstant[] expiresAt;

    @GuardedBy("this")
    private final BitSet seen = new BitSet();

    @GuardedBy("this")
    private final BitSet deleted = new BitSet();

    /**
     * Creates the policy of a grant from the votes that won its round.
     *
     * @param granted whether the master with that index has voted in the won round; more votes may still arrive
     * @param masters number of masters
     * @param validUntil deadline of the grant
     */
    public LostVoteRecoveryPolicy(
            IntPredicate granted, int masters, Duration leaseDuration, MonotonicInstant validUntil) {
        this.granted = granted;
        this.leaseDuration = leaseDuration;
        this.expiresAt = new MonotonicInstant[masters];
        Arrays.fill(expiresAt, validUntil);
    }

    /** Records that a request that was sent at the given time found or created the vote at that master. */
    public synchronized void voteSeen(int master, MonotonicInstant sent) {
        expiresAt[master] = expiresAt[master].orLater(LockClock.deadline(sent, leaseDuration));
        seen.set(master);
    }

    /** Records that the vote is missing at that master, and returns whether it may be requested again. */
    public boolean voteMissing(int master, MonotonicInstant now) {
        return voteMissing(master, now, granted.test(master)); // not under the monitor
    }

    private synchronized boolean voteMissing(int master, MonotonicInstant now, boolean voted) {
        boolean mayHaveExpired = !now.isBefore(expiresAt[master]);
        if (!mayHaveExpired && (voted || seen.get(master))) {
            deleted.set(master);
        }
        return mayHaveExpired && !deleted.get(master);
    }
}

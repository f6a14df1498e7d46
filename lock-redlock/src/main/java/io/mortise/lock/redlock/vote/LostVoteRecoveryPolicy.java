// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.vote;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.Arrays;
import java.util.BitSet;

/**
 * Decides which lost votes of a grant may be requested again. Pure; thread-safe.
 *
 * <p>A vote that was last seen one lease duration ago may have expired, or may have been lost in a restart, since a restarted
 * master is in quarantine for at least that long. A vote that disappears earlier was deleted, and is not requested again (ADR
 * 0042).
 */
public final class LostVoteRecoveryPolicy {
    private final VoteTally tally;
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
     * @param tally votes of the won round; more votes may still arrive
     * @param validUntil deadline of the grant
     */
    public LostVoteRecoveryPolicy(VoteTally tally, Duration leaseDuration, MonotonicInstant validUntil) {
        this.tally = tally;
        this.leaseDuration = leaseDuration;
        this.expiresAt = new MonotonicInstant[tally.votes().size()];
        Arrays.fill(expiresAt, validUntil);
    }

    /** Records that a request that was sent at the given time found or created the vote at that master. */
    public synchronized void voteSeen(int master, MonotonicInstant sent) {
        expiresAt[master] = expiresAt[master].orLater(LockClock.deadline(sent, leaseDuration));
        seen.set(master);
    }

    /** Records that the vote is missing at that master, and returns whether it may be requested again. */
    public synchronized boolean voteMissing(int master, MonotonicInstant now) {
        boolean mayHaveExpired = !now.isBefore(expiresAt[master]);
        if (!mayHaveExpired && hadVote(master)) {
            deleted.set(master);
        }
        return mayHaveExpired && !deleted.get(master);
    }

    @GuardedBy("this")
    private boolean hadVote(int master) {
        return seen.get(master) || tally.votes().get(master) instanceof MasterVote.Granted;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.vote;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicTime;
import java.time.Duration;
import java.util.Arrays;
import java.util.BitSet;

/**
 * Decides which lost votes a grant may ask for again. Pure; thread-safe.
 *
 * <p>A vote that was last seen a lease ago may have expired or gone with a restart, for a restarted master is in quarantine for as
 * long. A vote that is lost earlier was deleted by someone, and the grant respects that (ADR 0042).
 */
public final class VoteRecoveryPolicy {
    private final VoteTally tally;
    private final Duration leaseDuration;

    @GuardedBy("this")
    private final MonotonicTime[] expires;

    @GuardedBy("this")
    private final BitSet seen = new BitSet();

    @GuardedBy("this")
    private final BitSet deleted = new BitSet();

    /**
     * Starts with the votes that won the round.
     *
     * @param tally of the round that was won: votes may still come in
     * @param validUntil deadline of the grant that was won
     */
    public VoteRecoveryPolicy(VoteTally tally, Duration leaseDuration, MonotonicTime validUntil) {
        this.tally = tally;
        this.leaseDuration = leaseDuration;
        this.expires = new MonotonicTime[tally.votes().size()];
        Arrays.fill(expires, validUntil);
    }

    /** Records that a request that was sent at the given time found or made the vote at that master. */
    public synchronized void voteSeen(int master, MonotonicTime sent) {
        expires[master] = expires[master].orLater(LockClock.deadline(sent, leaseDuration));
        seen.set(master);
    }

    /** Records that the vote is missing at that master and returns whether it may be asked for again. */
    public synchronized boolean voteMissing(int master, MonotonicTime now) {
        boolean mayHaveExpired = !now.isBefore(expires[master]);
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

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import java.util.Arrays;
import java.util.BitSet;

/**
 * Which votes one grant has, as far as answers tell. One that is gone may have ended by itself, or with a restart: then a lease is
 * over since it was last seen, for a master that has forgotten waits for as long before it votes. One that goes earlier was taken
 * away, and whoever did that is not contradicted (ADR 0042). Pure; thread-safe.
 */
final class KeptVotes {
    private final Ballot ballot;
    private final Duration lease;

    @GuardedBy("this")
    private final long[] until;

    @GuardedBy("this")
    private final BitSet seen = new BitSet();

    @GuardedBy("this")
    private final BitSet takenAway = new BitSet();

    /**
     * All or most are there.
     *
     * @param ballot that was won: votes may still come in
     * @param validUntil the deadline of what was won
     */
    KeptVotes(Ballot ballot, Duration lease, long validUntil) {
        this.ballot = ballot;
        this.lease = lease;
        this.until = new long[ballot.votes().size()];
        Arrays.fill(until, validUntil);
    }

    /** That master has it, as a request says that was sent then. */
    synchronized void kept(int master, long sentNanos) {
        long deadline = LockClock.deadline(sentNanos, lease);
        until[master] = deadline - until[master] > 0 ? deadline : until[master];
        seen.set(master);
    }

    /** That master does not have it, as an answer says that came now. Returns whether it may be asked for it again. */
    synchronized boolean gone(int master, long nowNanos) {
        boolean mayHaveEnded = nowNanos - until[master] >= 0;
        if (!mayHaveEnded && hadIt(master)) {
            takenAway.set(master);
        }
        return mayHaveEnded && !takenAway.get(master);
    }

    @GuardedBy("this")
    private boolean hadIt(int master) {
        return seen.get(master) || ballot.votes().get(master) instanceof Vote.Granted;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import io.mortise.lock.redis.node.ServerTime;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Simulates how the Lua scripts change the state of one master with one lock. */
final class SimulatedMaster {
    private State now = new State(null, 0, 0, null, 0);
    private State saved = now;
    private int run;

    /** The data that the master stores; a restart may restore an older state. */
    private record State(
            @Nullable String owner,
            long expiresAt,
            long counter,
            @Nullable Integer votingRun,
            long since) {
        State grant(@Nullable String newOwner, long newExpiry, long newCounter) {
            return new State(newOwner, newExpiry, newCounter, votingRun, since);
        }
    }

    /** Returns the number of this run of the process: requests to an earlier run never arrive. */
    int run() {
        return run;
    }

    long counter() {
        return now.counter;
    }

    boolean isVoting() {
        return now.votingRun != null && now.votingRun == run;
    }

    void expire(long time) {
        if (now.owner != null && now.expiresAt <= time) {
            now = now.grant(null, 0, now.counter);
        }
    }

    /** Deletes the vote, as a clock jump or an operator may do. */
    void lose() {
        now = now.grant(null, 0, now.counter);
    }

    /**
     * Returns the counter if the master votes for that owner, -1 if another owner has its vote, -2 if its vote would not count.
     */
    long acquire(String owner, long time, long lease, boolean checksQuarantine) {
        if (checksQuarantine && !isVoting()) {
            return -2;
        }
        expire(time);
        if (owner.equals(now.owner)) {
            return now.counter;
        }
        if (now.owner != null) {
            return -1;
        }
        now = now.grant(owner, time + lease, now.counter + 1);
        return now.counter;
    }

    boolean raise(String owner, long token, long time, boolean onlyIfOwned, boolean checksQuarantine) {
        if (checksQuarantine && !isVoting()) {
            return false;
        }
        expire(time);
        boolean owned = owner.equals(now.owner);
        if (owned || !onlyIfOwned) {
            now = now.grant(now.owner, now.expiresAt, Math.max(now.counter, token));
        }
        return owned || !onlyIfOwned;
    }

    /** Votes again for an owner that has lost the vote; raises the counter to the token. */
    void recoverVote(String owner, long token, long time, long lease, boolean checksQuarantine) {
        expire(time);
        if (now.owner == null && (isVoting() || !checksQuarantine)) {
            now = now.grant(owner, time + lease, Math.max(now.counter, token));
        }
    }

    void release(String owner) {
        if (owner.equals(now.owner)) {
            lose();
        }
    }

    void save() {
        saved = now;
    }

    /** Deletes all data; the process keeps running. */
    void flush() {
        now = new State(null, 0, 0, null, 0);
    }

    void restart(boolean empty) {
        now = empty ? new State(null, 0, 0, null, 0) : saved;
        saved = now;
        run++;
        now = new State(now.owner, now.expiresAt, now.counter, now.votingRun, 0);
    }

    /** Returns the duration of that many simulation steps: one step is one microsecond of a server clock. */
    static Duration steps(long count) {
        return Duration.ofNanos(1_000 * count);
    }

    QuarantinePolicy.MasterState state(long time) {
        if (!isVoting() && now.since == 0) {
            now = new State(now.owner, now.expiresAt, now.counter, now.votingRun, time);
        }
        return new QuarantinePolicy.MasterState(
                isVoting(),
                now.votingRun != null,
                Optional.empty(),
                isVoting() ? Optional.empty() : Optional.of(new ServerTime(now.since)),
                new ServerTime(time));
    }

    QuarantinePolicy.PeerState peerState() {
        return isVoting()
                ? QuarantinePolicy.PeerState.VOTING
                : now.votingRun != null ? QuarantinePolicy.PeerState.QUARANTINED : QuarantinePolicy.PeerState.EMPTY;
    }

    void leaveQuarantine(long counter) {
        now = new State(now.owner, now.expiresAt, Math.max(now.counter, counter), run, 0);
    }
}

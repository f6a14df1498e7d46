// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import io.mortise.lock.redis.node.ServerTime;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Simulates one master with one lock as the scripts treat it. */
final class SimulatedMaster {
    private State now = new State(null, 0, 0, null, 0);
    private State saved = now;
    private int run;

    /** What the master stores; a restart may restore an older state. */
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

    /** Identifies the process: a message to an earlier one never arrives. */
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

    /** The clock jumped, or an operator deleted the key. */
    void lose() {
        now = now.grant(null, 0, now.counter);
    }

    /** Its counter if it votes for that owner, -1 if another has its vote, -2 if its vote would not count. */
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

    /** A vote that its owner has lost; the counter is not below the token. */
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

    /** Everything is deleted, and its process goes on. */
    void flush() {
        now = new State(null, 0, 0, null, 0);
    }

    void restart(boolean empty) {
        now = empty ? new State(null, 0, 0, null, 0) : saved;
        saved = now;
        run++;
        now = new State(now.owner, now.expiresAt, now.counter, now.votingRun, 0);
    }

    /** Returns so many steps of a simulation: its server clocks show microseconds. */
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

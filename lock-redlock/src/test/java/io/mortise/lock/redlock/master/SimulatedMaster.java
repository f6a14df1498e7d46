// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import io.mortise.lock.redis.node.ServerTime;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Simulates how the Lua scripts change the state of one master with one lock. */
final class SimulatedMaster {
    private static final State EMPTY = new State(null, 0, null, 0);

    private State now = EMPTY;
    private State saved = now;
    private int run;

    /** The data that the master stores; a restart may restore an older state. */
    private record State(
            @Nullable Vote vote, long counter, @Nullable Integer votingRun, long since) {
        State with(@Nullable Vote newVote, long newCounter) {
            return new State(newVote, newCounter, votingRun, since);
        }
    }

    /** A vote for one round of an attempt. */
    private record Vote(String owner, int round, long token, long expiresAt) {}

    /** The attempt and its round that send a request. */
    record Round(String owner, int number) {}

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
        if (now.vote != null && now.vote.expiresAt <= time) {
            lose();
        }
    }

    /** Deletes the vote, as a clock jump or an operator may do. */
    void lose() {
        now = now.with(null, now.counter);
    }

    private static boolean isOf(Round round, @Nullable Vote vote) {
        return vote != null && vote.owner.equals(round.owner);
    }

    private static boolean isVoteOf(Round round, @Nullable Vote vote) {
        return vote != null && isOf(round, vote) && vote.round == round.number;
    }

    /**
     * Returns the token of the vote if the master votes for that round, or has voted for another one of the attempt; -1 if another
     * attempt has its vote, -2 if its vote would not count.
     */
    long acquire(Round round, long time, long lease, boolean checksQuarantine) {
        if (checksQuarantine && !isVoting()) {
            return -2;
        }
        expire(time);
        Vote vote = now.vote;
        if (vote != null && !isOf(round, vote)) {
            return -1;
        }
        long token = vote == null ? now.counter + 1 : vote.token;
        if (vote == null || round.number >= vote.round) {
            now = now.with(
                    new Vote(round.owner, round.number, token, time + lease), vote == null ? token : now.counter);
        }
        return token;
    }

    boolean raise(Round round, long token, long time, boolean onlyIfOwned, boolean checksQuarantine) {
        if (checksQuarantine && !isVoting()) {
            return false;
        }
        expire(time);
        Vote vote = now.vote;
        boolean owned = isVoteOf(round, vote);
        if (owned || !onlyIfOwned) {
            Vote raised = vote == null || !owned ? vote : new Vote(vote.owner, vote.round, token, vote.expiresAt);
            now = now.with(raised, Math.max(now.counter, token));
        }
        return owned || !onlyIfOwned;
    }

    /** Votes again for a round that has lost the vote; raises the counter to the token. */
    void recoverVote(Round round, long token, long time, long lease, boolean checksQuarantine) {
        expire(time);
        Vote vote = now.vote;
        boolean free = vote == null || (isOf(round, vote) && vote.round < round.number);
        if (free && (isVoting() || !checksQuarantine)) {
            now = now.with(new Vote(round.owner, round.number, token, time + lease), Math.max(now.counter, token));
        }
    }

    /** Deletes the vote of a lost round. */
    void yieldVote(Round round, boolean onlyOfThatRound) {
        if (onlyOfThatRound ? isVoteOf(round, now.vote) : isOf(round, now.vote)) {
            lose();
        }
    }

    void release(Round last) {
        if (isOf(last, now.vote)) {
            lose();
        }
    }

    void save() {
        saved = now;
    }

    /** Deletes all data; the process keeps running. */
    void flush() {
        now = EMPTY;
    }

    void restart(boolean empty) {
        now = empty ? EMPTY : saved;
        saved = now;
        run++;
        now = new State(now.vote, now.counter, now.votingRun, 0);
    }

    /** Returns the duration of that many simulation steps: one step is one microsecond of a server clock. */
    static Duration steps(long count) {
        return Duration.ofNanos(1_000 * count);
    }

    QuarantinePolicy.MasterState state(long time) {
        if (!isVoting() && now.since == 0) {
            now = new State(now.vote, now.counter, now.votingRun, time);
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
        now = new State(now.vote, Math.max(now.counter, counter), run, 0);
    }
}

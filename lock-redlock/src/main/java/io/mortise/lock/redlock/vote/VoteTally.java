// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.vote;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Counts the votes of all masters in one acquire round. Thread-safe.
 *
 * <p>The result is final as soon as no further vote could change it. Exactly one call of {@link #add} returns it.
 */
public final class VoteTally {
    /** The result of a round. */
    public enum Result {
        OPEN,
        /** A majority granted the lock. */
        WON,
        /** A majority replied, but cannot grant the lock: there is a holder, or several contenders share the votes. */
        BUSY,
        /** Too many masters failed for a majority to reply. */
        NO_QUORUM
    }

    private final Quorum quorum;

    @GuardedBy("this")
    private final MasterVote[] votes;

    @GuardedBy("this")
    private final List<Long> decisiveCounters =
            new ArrayList<>(); // of the votes that arrived before the result was final

    @GuardedBy("this")
    private Result result = Result.OPEN;

    @GuardedBy("this")
    private int granted;

    @GuardedBy("this")
    private int conflicted;

    @GuardedBy("this")
    private int failed;

    public VoteTally(Quorum quorum) {
        this.quorum = quorum;
        this.votes = new MasterVote[quorum.masters()];
        Arrays.fill(votes, new MasterVote.Pending());
    }

    /** Adds a vote. Returns the result if this vote decides, else {@link Result#OPEN}, even if an earlier vote has decided. */
    public synchronized Result add(int master, MasterVote vote) {
        if (!(votes[master] instanceof MasterVote.Pending)) {
            throw new IllegalStateException("master " + master + " has voted already");
        }
        votes[master] = vote;
        boolean open = result == Result.OPEN;
        if (vote instanceof MasterVote.Granted grant) {
            granted++;
            if (open) {
                decisiveCounters.add(grant.counter());
            }
        } else if (vote instanceof MasterVote.Conflicted) {
            conflicted++;
        } else {
            failed++;
        }
        result = open ? decide() : result;
        return open ? result : Result.OPEN;
    }

    @GuardedBy("this")
    private Result decide() {
        if (granted >= quorum.majority()) {
            return Result.WON;
        }
        if (failed > quorum.maxFailures()) {
            return Result.NO_QUORUM;
        }
        boolean lost = quorum.masters() - conflicted - failed < quorum.majority();
        return lost && granted + conflicted >= quorum.majority() ? Result.BUSY : Result.OPEN;
    }

    /** Returns the highest counter among the decisive votes: the fencing token, once a majority has stored it. */
    public synchronized long token() {
        return decisiveCounters.stream().mapToLong(Long::longValue).max().orElseThrow();
    }

    /** Returns whether all decisive votes have the same counter, so that no token round is needed. */
    public synchronized boolean isTokenUnanimous() {
        return decisiveCounters.stream().distinct().count() == 1;
    }

    /** Returns the contender to which a majority has granted the lock; empty if several share the votes. */
    public synchronized Optional<String> holder() {
        Map<String, Integer> votesByHolder = new HashMap<>();
        for (MasterVote vote : votes) {
            if (vote instanceof MasterVote.Conflicted conflict) {
                votesByHolder.merge(conflict.holder(), 1, Integer::sum);
            }
        }
        return votesByHolder.entrySet().stream()
                .filter(entry -> entry.getValue() >= quorum.majority())
                .map(Map.Entry::getKey)
                .findFirst();
    }

    /** Returns whether every master has voted or failed. */
    public synchronized boolean isComplete() {
        return granted + conflicted + failed == quorum.masters();
    }

    /** Returns the votes so far in the order of the masters. */
    public synchronized List<MasterVote> votes() {
        return List.of(votes);
    }
}

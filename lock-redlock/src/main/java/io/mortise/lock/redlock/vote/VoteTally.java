// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.vote;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The votes of all masters in one acquire round. The result is final as soon as no further vote could change it. An immutable
 * value.
 *
 * @param votes votes so far in the order of the masters
 * @param result result of the round
 * @param lowestCounter lowest counter of the votes that arrived before the result was final; {@link Long#MAX_VALUE} without one
 * @param highestCounter the highest one: the fencing token, once a majority has stored it; 0 without one
 */
public record VoteTally(Quorum quorum, List<MasterVote> votes, Result result, long lowestCounter, long highestCounter) {
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

    /** Creates a tally without votes. */
    public VoteTally(Quorum quorum) {
        this(quorum, Collections.nCopies(quorum.masters(), new MasterVote.Pending()), Result.OPEN, Long.MAX_VALUE, 0);
    }

    /** Returns the tally with another vote. */
    public VoteTally with(int master, MasterVote vote) {
        if (!(votes.get(master) instanceof MasterVote.Pending)) {
            throw new IllegalStateException("master " + master + " has voted already");
        }
        List<MasterVote> all = new ArrayList<>(votes);
        all.set(master, vote);
        List<MasterVote> next = Collections.unmodifiableList(all);
        if (result != Result.OPEN) {
            return new VoteTally(quorum, next, result, lowestCounter, highestCounter);
        }
        long lowest = lowestCounter;
        long highest = highestCounter;
        if (vote instanceof MasterVote.Granted grant) {
            lowest = Math.min(lowest, grant.counter());
            highest = Math.max(highest, grant.counter());
        }
        return new VoteTally(quorum, next, decide(quorum, next), lowest, highest);
    }

    private static Result decide(Quorum quorum, List<MasterVote> votes) {
        int granted = 0;
        int conflicted = 0;
        int failed = 0;
        for (MasterVote vote : votes) {
            if (vote instanceof MasterVote.Granted) {
                granted++;
            } else if (vote instanceof MasterVote.Conflicted) {
                conflicted++;
            } else if (vote instanceof MasterVote.Failed) {
                failed++;
            }
        }
        if (granted >= quorum.majority()) {
            return Result.WON;
        }
        if (failed > quorum.maxFailures()) {
            return Result.NO_QUORUM;
        }
        boolean lost = quorum.masters() - conflicted - failed < quorum.majority();
        return lost && granted + conflicted >= quorum.majority() ? Result.BUSY : Result.OPEN;
    }

    /** Returns the vote of one master. */
    public MasterVote of(int master) {
        return votes.get(master);
    }

    /** Returns whether all decisive votes have the same counter, so that no token round is needed. */
    public boolean isTokenUnanimous() {
        return lowestCounter == highestCounter;
    }

    /** Returns the contender to which a majority has granted the lock; empty if several share the votes. */
    public Optional<String> holder() {
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

    /** Returns whether a majority has granted the lock to this attempt, or may have done so although it did not reply. */
    public boolean mayHaveMajority() {
        return votes.stream().filter(MasterVote::mayBeGranted).count() >= quorum.majority();
    }

    /** Returns whether several contenders share the votes, and this attempt may have some of them. */
    public boolean isSplitWithOwnVote() {
        boolean mayHaveVote =
                votes.stream().anyMatch(vote -> vote instanceof MasterVote.Pending || vote.mayBeGranted());
        return mayHaveVote && holder().isEmpty();
    }

    /** Returns whether every master has voted or failed. */
    public boolean isComplete() {
        return votes.stream().noneMatch(MasterVote.Pending.class::isInstance);
    }
}

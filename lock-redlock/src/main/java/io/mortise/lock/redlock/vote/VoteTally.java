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
 * @param decisiveCounters counters of the votes that arrived before the result was final
 */
public record VoteTally(Quorum quorum, List<MasterVote> votes, Result result, List<Long> decisiveCounters) {
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
        this(quorum, Collections.nCopies(quorum.masters(), new MasterVote.Pending()), Result.OPEN, List.of());
    }

    /** Returns the tally with another vote. */
    public VoteTally with(int master, MasterVote vote) {
        if (!(votes.get(master) instanceof MasterVote.Pending)) {
            throw new IllegalStateException("master " + master + " has voted already");
        }
        List<MasterVote> all = new ArrayList<>(votes);
        all.set(master, vote);
        if (result != Result.OPEN) {
            return new VoteTally(quorum, List.copyOf(all), result, decisiveCounters);
        }
        List<Long> counters = decisiveCounters;
        if (vote instanceof MasterVote.Granted grant) {
            counters = new ArrayList<>(decisiveCounters);
            counters.add(grant.counter());
        }
        return new VoteTally(quorum, List.copyOf(all), decide(quorum, all), List.copyOf(counters));
    }

    private static Result decide(Quorum quorum, List<MasterVote> votes) {
        int granted = count(votes, MasterVote.Granted.class);
        int conflicted = count(votes, MasterVote.Conflicted.class);
        int failed = count(votes, MasterVote.Failed.class);
        if (granted >= quorum.majority()) {
            return Result.WON;
        }
        if (failed > quorum.maxFailures()) {
            return Result.NO_QUORUM;
        }
        boolean lost = quorum.masters() - conflicted - failed < quorum.majority();
        return lost && granted + conflicted >= quorum.majority() ? Result.BUSY : Result.OPEN;
    }

    private static int count(List<MasterVote> votes, Class<? extends MasterVote> kind) {
        int count = 0;
        for (MasterVote vote : votes) {
            count += kind.isInstance(vote) ? 1 : 0;
        }
        return count;
    }

    /** Returns the vote of one master. */
    public MasterVote of(int master) {
        return votes.get(master);
    }

    /** Returns the highest counter among the decisive votes: the fencing token, once a majority has stored it. */
    public long token() {
        return Collections.max(decisiveCounters);
    }

    /** Returns whether all decisive votes have the same counter, so that no token round is needed. */
    public boolean isTokenUnanimous() {
        return Collections.min(decisiveCounters).equals(token());
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

    /** Returns whether several contenders share the votes, and this attempt may have some of them. */
    public boolean isSplitWithOwnVote() {
        boolean mayHaveVote =
                votes.stream().anyMatch(vote -> vote instanceof MasterVote.Pending || vote.mayBeGranted());
        return mayHaveVote && holder().isEmpty();
    }

    /** Returns whether every master has voted or failed. */
    public boolean isComplete() {
        return count(votes, MasterVote.Pending.class) == 0;
    }
}

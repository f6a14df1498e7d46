// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The votes of all masters on one attempt to acquire. Decided as soon as no further vote could change the outcome; exactly one
 * vote is answered with the verdict. Thread-safe.
 */
final class Ballot {
    enum Verdict {
        OPEN,
        /** A majority is ours. */
        WON,
        /** A majority answered, and it cannot become ours: somebody has the lock, or several share the votes. */
        BUSY,
        /** So many did not answer that there is no majority. */
        NO_QUORUM
    }

    private final Quorum quorum;

    @GuardedBy("this")
    private final Vote[] votes;

    @GuardedBy("this")
    private final List<Long> counted = new ArrayList<>(); // of those who decided

    @GuardedBy("this")
    private Verdict verdict = Verdict.OPEN;

    @GuardedBy("this")
    private int granted;

    @GuardedBy("this")
    private int conflicted;

    @GuardedBy("this")
    private int failed;

    Ballot(Quorum quorum) {
        this.quorum = quorum;
        this.votes = new Vote[quorum.nodes()];
        Arrays.fill(votes, new Vote.None());
    }

    /** The verdict if this vote decides, else {@link Verdict#OPEN}: it is still open, or was decided before. */
    synchronized Verdict cast(int node, Vote vote) {
        if (!(votes[node] instanceof Vote.None)) {
            throw new IllegalStateException("master " + node + " has voted already");
        }
        votes[node] = vote;
        boolean open = verdict == Verdict.OPEN;
        if (vote instanceof Vote.Granted grant) {
            granted++;
            if (open) {
                counted.add(grant.counter());
            }
        } else if (vote instanceof Vote.Conflicted) {
            conflicted++;
        } else {
            failed++;
        }
        verdict = open ? decide() : verdict;
        return open ? verdict : Verdict.OPEN;
    }

    @GuardedBy("this")
    private Verdict decide() {
        if (granted >= quorum.majority()) {
            return Verdict.WON;
        }
        if (failed > quorum.spare()) {
            return Verdict.NO_QUORUM;
        }
        boolean lost = quorum.nodes() - conflicted - failed < quorum.majority();
        return lost && granted + conflicted >= quorum.majority() ? Verdict.BUSY : Verdict.OPEN;
    }

    /** The highest counter of those who decided: the fencing token, once a majority has it. */
    synchronized long token() {
        return counted.stream().mapToLong(Long::longValue).max().orElseThrow();
    }

    /** Whether all who decided have that token already: then it needs no second phase. */
    synchronized boolean isUnanimous() {
        return counted.stream().distinct().count() == 1;
    }

    /** Who has the votes of a majority, if anybody: then it is worth waiting for him, and not for chance. */
    synchronized Optional<String> holder() {
        Map<String, Integer> byHolder = new HashMap<>();
        for (Vote vote : votes) {
            if (vote instanceof Vote.Conflicted conflict) {
                byHolder.merge(conflict.holder(), 1, Integer::sum);
            }
        }
        return byHolder.entrySet().stream()
                .filter(votesOf -> votesOf.getValue() >= quorum.majority())
                .map(Map.Entry::getKey)
                .findFirst();
    }

    /** Whether all have voted, one way or another. */
    synchronized boolean isComplete() {
        return granted + conflicted + failed == quorum.nodes();
    }

    /** Those that have voted so far, and how. */
    synchronized List<Vote> votes() {
        return List.of(votes);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.mortise.lock.redlock.grant.RoundReport;
import io.mortise.lock.redlock.vote.MasterVote;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The answers of all masters to the attempt that acquired a lease, by {@code lease.unwrap(RedlockVoteSummary.class)}. Use it for logs,
 * and to see a master that is slow or down while locks still work.
 *
 * @param masters in the order in which they were configured
 */
public record RedlockVoteSummary(List<Instance> masters) {
    /** The answer of a master to one attempt. */
    public enum Vote {
        /** The master granted the lock to this attempt. */
        ACQUIRED,
        /** The master has granted the lock to another contender. */
        CONFLICTED,
        /** The master gave no answer, or none that counts. */
        FAILED,
        /** The master has not answered yet, or was not asked, since the others had decided. */
        PENDING
    }

    /**
     * The vote of one master.
     *
     * @param endpoint without secrets
     * @param error why its vote failed; empty otherwise
     */
    public record Instance(String endpoint, Vote vote, Optional<String> error) {
        @Override
        public String toString() {
            return endpoint + " " + vote + error.map(why -> " (" + why + ")").orElse("");
        }
    }

    static RedlockVoteSummary of(RoundReport report) {
        return new RedlockVoteSummary(report.masters().stream()
                .map(master -> new Instance(master.endpoint(), vote(master.vote()), error(master.vote())))
                .toList());
    }

    private static Vote vote(MasterVote vote) {
        if (vote instanceof MasterVote.Failed) {
            return Vote.FAILED;
        }
        return vote instanceof MasterVote.Granted
                ? Vote.ACQUIRED
                : vote instanceof MasterVote.Conflicted ? Vote.CONFLICTED : Vote.PENDING;
    }

    private static Optional<String> error(MasterVote vote) {
        return vote instanceof MasterVote.Failed failure
                ? Optional.of(String.valueOf(failure.cause().getMessage()))
                : Optional.empty();
    }

    /** Returns how many masters gave that answer. */
    public long count(Vote vote) {
        return masters.stream().filter(master -> master.vote == vote).count();
    }

    /** Returns one line of text that names the vote of each master. */
    @Override
    public String toString() {
        return masters.stream().map(Instance::toString).collect(Collectors.joining("; "));
    }
}

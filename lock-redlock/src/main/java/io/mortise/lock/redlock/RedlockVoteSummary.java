// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.mortise.lock.redlock.grant.RoundReport;
import io.mortise.lock.redlock.vote.MasterVote;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The vote of each master on the attempt that acquired a lease, for logs and monitoring.
 *
 * <p>Get it with {@code lease.unwrap(RedlockVoteSummary.class)}. It shows which masters are slow or down while locks still
 * work.
 *
 * @param masters votes in the order in which the masters were configured
 */
public record RedlockVoteSummary(List<Instance> masters) {
    /** The vote of one master on one attempt. */
    public enum Vote {
        /** The master granted the lock to this attempt. */
        ACQUIRED,
        /** The master has granted the lock to another contender. */
        CONFLICTED,
        /** The master sent no reply, or none that counts. */
        FAILED,
        /** The master has not replied yet, or received no request because the other masters had already decided. */
        PENDING
    }

    /**
     * One master and its vote.
     *
     * @param endpoint address of the master, without secrets
     * @param error reason why the vote failed; empty otherwise
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

    /** Returns the number of masters with that vote. */
    public long count(Vote vote) {
        return masters.stream().filter(master -> master.vote == vote).count();
    }

    /** Returns one line of text with the vote of each master. */
    @Override
    public String toString() {
        return masters.stream().map(Instance::toString).collect(Collectors.joining("; "));
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockException;
import io.mortise.lock.redlock.master.RedlockMaster;
import io.mortise.lock.redlock.vote.MasterVote;
import io.mortise.lock.redlock.vote.Quorum;
import io.mortise.lock.redlock.vote.VoteTally;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * The votes of all masters in one acquire round, for logs and error messages.
 *
 * @param masters votes in the order in which the masters were configured
 */
public record RoundReport(List<MasterReport> masters) {
    /**
     * One master and its vote.
     *
     * @param endpoint address of the master, without secrets
     */
    public record MasterReport(String endpoint, MasterVote vote) {}

    static RoundReport of(List<RedlockMaster> masters, VoteTally votes) {
        return new RoundReport(masters.stream()
                .map(master -> new MasterReport(master.endpoint(), votes.of(master.index())))
                .toList());
    }

    /** Returns the error of a round without a quorum: a refusal if so many masters refuse that no majority is possible. */
    LockException noQuorum(String operation) {
        Quorum quorum = new Quorum(masters.size());
        List<Throwable> refusals = new ArrayList<>();
        for (MasterReport master : masters) {
            if (master.vote() instanceof MasterVote.Failed failure
                    && failure.cause() instanceof BackendRefusedException) {
                refusals.add(failure.cause());
            }
        }
        String message = operation + ": " + noQuorumMessage();
        return refusals.size() > quorum.maxFailures()
                ? new BackendRefusedException(message, refusals.get(0))
                : new BackendUnavailableException(message);
    }

    /** Returns a message with the number of masters that replied, and the reason for each of the others. */
    String noQuorumMessage() {
        List<String> failed = new ArrayList<>();
        int answered = 0;
        for (MasterReport master : masters) {
            if (master.vote() instanceof MasterVote.Failed failure) {
                failed.add(failedMaster(
                        master.endpoint(), String.valueOf(failure.cause().getMessage())));
            } else if (master.vote() instanceof MasterVote.Granted || master.vote() instanceof MasterVote.Conflicted) {
                answered++;
            }
        }
        return noQuorumMessage(answered, masters.size(), failed);
    }

    /**
     * Returns the message for a round without a quorum.
     *
     * @param failed masters that did not reply, each as {@link #failedMaster} describes it
     */
    static String noQuorumMessage(int answered, int masters, Collection<String> failed) {
        return "no quorum: " + answered + " of " + masters + " masters answered, these did not: "
                + String.join(", ", failed);
    }

    static String failedMaster(String endpoint, String why) {
        return endpoint + " (" + why.replace(" from " + endpoint, "") + ")";
    }
}

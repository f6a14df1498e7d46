// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What a round came to, for people. */
final class RoundReport {
    private RoundReport() {}

    static RedlockSummary summary(List<Part> parts, Ballot ballot) {
        List<Vote> votes = ballot.votes();
        return new RedlockSummary(parts.stream()
                .map(part -> instance(
                        part.master().endpoint(), votes.get(part.master().index())))
                .toList());
    }

    private static RedlockSummary.Instance instance(String endpoint, Vote vote) {
        if (vote instanceof Vote.Failed failure) {
            return new RedlockSummary.Instance(
                    endpoint,
                    RedlockSummary.Vote.FAILED,
                    Optional.of(String.valueOf(failure.cause().getMessage())));
        }
        RedlockSummary.Vote said = vote instanceof Vote.Granted
                ? RedlockSummary.Vote.ACQUIRED
                : vote instanceof Vote.Conflicted ? RedlockSummary.Vote.CONFLICTED : RedlockSummary.Vote.PENDING;
        return new RedlockSummary.Instance(endpoint, said, Optional.empty());
    }

    /** Final only if so many refuse us that the others are no majority. */
    static LockException noQuorum(String what, List<Part> parts, Ballot ballot) {
        RedlockSummary summary = summary(parts, ballot);
        Quorum quorum = new Quorum(parts.size());
        List<Throwable> refusals = new ArrayList<>();
        for (Vote vote : ballot.votes()) {
            if (vote instanceof Vote.Failed failure && failure.cause() instanceof BackendRefusedException) {
                refusals.add(failure.cause());
            }
        }
        String message = what + ": " + summary.withoutQuorum();
        return refusals.size() > quorum.spare()
                ? new BackendRefusedException(message, refusals.get(0))
                : new BackendUnavailableException(message);
    }
}

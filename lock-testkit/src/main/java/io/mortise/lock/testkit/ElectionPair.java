// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Capability;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.LockClient;
import io.mortise.lock.recipe.Term;
import io.mortise.lock.recipe.TermBody;
import java.time.Duration;

/**
 * Two candidates of an election: one leads when the test begins, the other one waits.
 *
 * @param leader the candidate that leads
 * @param first its term
 * @param next the candidate that waits
 * @param fencing whether the backend has fencing tokens
 */
record ElectionPair(ElectionCandidate leader, Term first, ElectionCandidate next, boolean fencing)
        implements AutoCloseable {
    /**
     * Starts both candidates.
     *
     * @param lock the lock of the leader
     * @param client the client of the other candidate
     * @param nextLock the same lock of that client
     */
    static ElectionPair start(
            DistributedLock lock, TermBody body, LockClient client, DistributedLock nextLock, TermBody nextBody)
            throws Exception {
        ElectionCandidate leader = ElectionCandidate.start(lock, body);
        Term first = leader.awaitTerm(1, ContractTestFixture.LONG);
        ElectionCandidate next = ElectionCandidate.start(nextLock, nextBody);
        ContractTestFixture.awaitWaiters(client, lock.name(), 1);
        return new ElectionPair(leader, first, next, client.capabilities().contains(Capability.FENCING));
    }

    /** Waits for the first term of the second candidate, which follows that of the leader. */
    Term awaitNext(Duration within) throws Exception {
        Term second = next.awaitTerm(1, within);
        assertLater(first, second);
        return second;
    }

    /** S03: asserts that the epoch has increased. */
    void assertLater(Term earlier, Term later) {
        if (fencing) {
            assertThat(later.epoch()).as("S03: epoch").isGreaterThan(earlier.epoch());
        }
    }

    /**
     * Returns the time from the start of the next term to the call of the first one's stop; negative if that came earlier.
     */
    Duration stopAfterStartOf(Term second) {
        return Duration.ofNanos(leader.stoppedAt(first) - next.startedAt(second));
    }

    @Override
    public void close() {
        next.close();
        leader.close();
    }
}

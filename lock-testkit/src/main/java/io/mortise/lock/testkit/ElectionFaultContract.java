// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.recipe.Term;
import io.mortise.lock.recipe.TermEnd;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Tests that a leader is stopped before the next one leads, and that candidates continue after faults. */
interface ElectionFaultContract extends Contract {
    /** With these, a candidate reports an outage soon. */
    ClientOptions SHORT_TIMEOUTS =
            ClientOptions.defaults().requestTimeout(Duration.ofSeconds(1)).unavailableAfter(Duration.ofSeconds(1));

    /** A stop that comes late must be due to a stalled machine, so it is not late again and again. */
    @Test
    default void S07_aSilentLeaderIsStoppedBeforeTheNextTerm() throws Exception {
        Duration late = silenceLeader("x");
        for (int again = 1; !late.isNegative() && again < 4; again++) {
            late = silenceLeader("x" + again);
        }
        assertThat(late)
                .as("S07: from the next term to the stop of the first, best of several tries")
                .isNegative();
    }

    /**
     * One scenario for S02, S03 and S07. The body ignores its stop, so that a second one beside it would be seen.
     *
     * @return the time from the start of the next term to the stop of the first one
     */
    private Duration silenceLeader(String name) throws Exception {
        LockClient silent = fixture().client(SHORT_TIMEOUTS);
        LockClient other = fixture().client();
        ContractTestFixture.onlyIf(other, Capability.CRASH_RELEASE);
        CompletableFuture<Void> ending = new CompletableFuture<>();
        CompletableFuture<Term> leading = new CompletableFuture<>();
        CompletableFuture<Boolean> overAtNextTerm = new CompletableFuture<>();
        ElectionPair pair = ElectionPair.start(
                silent.named(name, fixture().shortLease(silent)),
                term -> {
                    leading.complete(term);
                    ending.join();
                },
                other,
                other.named(name, fixture().shortLease(other)),
                term -> {
                    overAtNextTerm.complete(leading.join().isOver());
                    ElectionCandidate.untilStopped().lead(term);
                });
        ElectionCandidate leader = pair.leader();
        fixture().faultInjector().silence(silent, "S07 for a leader");
        Term second = pair.awaitNext(fixture().backend().takeoverWithin().plus(ContractTestFixture.PROMPT));
        assertThat(overAtNextTerm.get(ContractTestFixture.LONG.toSeconds(), TimeUnit.SECONDS))
                .as("S02: the first term is over when the second begins")
                .isTrue();
        assertThat(leader.election().isLeading()).isFalse();
        leader.awaitStop(pair.first(), ContractTestFixture.PROMPT);
        fixture().faultInjector().heal(silent);
        pair.next().close();
        ContractTestFixture.throughout(
                "the first body has not ended",
                Duration.ofMillis(300),
                () -> assertThat(leader.terms())
                        .as("terms beside a body that ignores its stop")
                        .isEqualTo(1));
        ending.complete(null);
        assertThat(leader.awaitEnds(1)).first().isEqualTo(TermEnd.LOST);
        pair.assertLater(second, leader.awaitTerm(2, ContractTestFixture.LONG));
        assertThat(leader.mostBodies()).as("bodies at the same time").isEqualTo(1);
        leader.close();
        return pair.stopAfterStartOf(second);
    }

    @Test
    default void S07_aRemovedGrantEndsTheTerm() throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        ElectionPair pair = ElectionPair.start(
                one.named("x", fixture().shortLease(one)),
                ElectionCandidate.blockingOnce(),
                two,
                two.named("x", fixture().shortLease(two)),
                ElectionCandidate.untilStopped());
        ElectionCandidate leader = pair.leader();
        fixture().removeGrant("x", two, "S07 for a leader whose grant was removed");
        leader.awaitStop(
                pair.first(), fixture().backend().removalNotifiedWithin().plus(ContractTestFixture.PROMPT));
        assertThat(pair.first().isOver()).isTrue();
        assertThat(leader.awaitEnds(1)).first().isEqualTo(TermEnd.LOST);
        pair.awaitNext(ContractTestFixture.LONG);
        pair.next().close();
        leader.awaitTerm(2, ContractTestFixture.LONG);
        leader.close();
        fixture().assertFree(two, "x");
    }

    @Test
    @ResourceLock(Contract.SERVER)
    default void S07_anExpiredLeaderIsStoppedAndCampaignsAgain() throws Exception {
        LockClient expired = fixture().client();
        LockClient other = fixture().client();
        ElectionCandidate leader =
                ElectionCandidate.start(expired.named("x", fixture().shortLease(expired)));
        Term first = leader.awaitTerm(1, ContractTestFixture.LONG);
        fixture().faultInjector().expireSession(expired, "S07 for a leader whose session expired");
        leader.awaitStop(first, fixture().backend().lease().plus(ContractTestFixture.PROMPT));
        assertThat(leader.awaitEnds(1)).first().isEqualTo(TermEnd.LOST);
        Term second = leader.awaitTerm(2, ContractTestFixture.LONG);
        if (other.capabilities().contains(Capability.FENCING)) {
            assertThat(second.epoch()).as("S03").isGreaterThan(first.epoch());
        }
        assertThat(leader.mostBodies()).isEqualTo(1);
        leader.close();
        fixture().assertFree(other, "x");
    }

    /** The outage is longer than a wait for the lock, so that a candidate must try again. */
    @Test
    @ResourceLock(Contract.SERVER)
    default void S15_anElectionOutlivesARestartOfTheServer() throws Exception {
        LockClient one = fixture().client(SHORT_TIMEOUTS);
        LockClient two = fixture().client(SHORT_TIMEOUTS);
        ElectionPair pair = ElectionPair.start(
                one.named("x", fixture().shortLease(one)),
                ElectionCandidate.untilStopped(),
                two,
                two.named("x", fixture().shortLease(two)),
                ElectionCandidate.untilStopped());
        ElectionCandidate leader = pair.leader();
        ElectionCandidate next = pair.next();
        fixture().faultInjector().stopServer("S15 for an election");
        leader.awaitStop(pair.first(), fixture().backend().lease().plus(ContractTestFixture.PROMPT));
        ContractTestFixture.eventually(
                "S15: the candidate reports the outage",
                ContractTestFixture.LONG,
                () -> next.failures().stream().anyMatch(BackendUnavailableException.class::isInstance));
        assertThat(next.election().isRunning()).isTrue();
        fixture().faultInjector().startServer("S15 for an election");
        ContractTestFixture.eventually(
                "S15: a candidate leads after the restart",
                ContractTestFixture.LONG,
                () -> leader.terms() > 1 || next.terms() > 0);
        pair.assertLater(
                pair.first(), next.terms() > 0 ? next.awaitTerm(1, Duration.ZERO) : leader.awaitTerm(2, Duration.ZERO));
        pair.close();
    }
}

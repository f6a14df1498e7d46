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
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Tests that a leader is stopped before the next one leads, and that candidates continue after faults. */
interface ElectionFaultContract extends Contract {
    /** With these, a candidate reports an outage soon. */
    ClientOptions SHORT_TIMEOUTS =
            ClientOptions.defaults().requestTimeout(Duration.ofSeconds(1)).unavailableAfter(Duration.ofSeconds(1));

    /** One scenario for S02, S03 and S07. The body ignores its stop, so that a second one beside it would be seen. */
    @Test
    default void S07_aSilentLeaderIsStoppedBeforeTheNextTerm() throws Exception {
        LockClient silent = fixture().client(SHORT_TIMEOUTS);
        LockClient other = fixture().client();
        ContractTestFixture.onlyIf(other, Capability.CRASH_RELEASE);
        CountDownLatch ending = new CountDownLatch(1);
        ElectionCandidate leader =
                ElectionCandidate.start(silent.named("x", fixture().shortLease(silent)), term -> {
                    while (ending.getCount() > 0) {
                        Thread.onSpinWait();
                    }
                });
        Term first = leader.awaitTerm(1, ContractTestFixture.LONG);
        CountDownLatch overAtNextTerm = new CountDownLatch(1);
        ElectionCandidate next =
                ElectionCandidate.start(other.named("x", fixture().shortLease(other)), term -> {
                    if (first.isOver()) {
                        overAtNextTerm.countDown();
                    }
                    new CountDownLatch(1).await();
                });
        ContractTestFixture.awaitWaiters(other, "x", 1);
        fixture().faultInjector().silence(silent, "S07 for a leader");
        Term second = next.awaitTerm(1, fixture().backend().takeoverWithin().plus(ContractTestFixture.PROMPT));
        assertThat(overAtNextTerm.getCount())
                .as("S02: the first term is over when the second begins")
                .isZero();
        assertThat(leader.election().isLeading()).isFalse();
        leader.awaitStop(first, ContractTestFixture.PROMPT); // before the grant, except on a stalled machine
        if (other.capabilities().contains(Capability.FENCING)) {
            assertThat(second.epoch()).as("S03").isGreaterThan(first.epoch());
        }
        fixture().faultInjector().heal(silent);
        next.close();
        ContractTestFixture.throughout(
                "the first body has not ended",
                Duration.ofMillis(300),
                () -> assertThat(leader.terms())
                        .as("terms beside a body that ignores its stop")
                        .isEqualTo(1));
        ending.countDown();
        assertThat(leader.awaitEnds(1)).first().isEqualTo(TermEnd.LOST);
        Term third = leader.awaitTerm(2, ContractTestFixture.LONG);
        if (other.capabilities().contains(Capability.FENCING)) {
            assertThat(third.epoch()).as("S03").isGreaterThan(second.epoch());
        }
        assertThat(leader.mostBodies()).as("bodies at the same time").isEqualTo(1);
        leader.close();
    }

    @Test
    default void S07_aRemovedGrantEndsTheTerm() throws Exception {
        LockClient one = fixture().client();
        LockClient two = fixture().client();
        ElectionCandidate leader =
                ElectionCandidate.startBlockingOnce(one.named("x", fixture().shortLease(one)));
        Term first = leader.awaitTerm(1, ContractTestFixture.LONG);
        ElectionCandidate next =
                ElectionCandidate.start(two.named("x", fixture().shortLease(two)));
        ContractTestFixture.awaitWaiters(two, "x", 1);
        fixture().removeGrant("x", two, "S07 for a leader whose grant was removed");
        leader.awaitStop(first, fixture().backend().removalNotifiedWithin().plus(ContractTestFixture.PROMPT));
        assertThat(first.isOver()).isTrue();
        assertThat(leader.awaitEnds(1)).first().isEqualTo(TermEnd.LOST);
        Term second = next.awaitTerm(1, ContractTestFixture.LONG);
        if (one.capabilities().contains(Capability.FENCING)) {
            assertThat(second.epoch()).as("S03").isGreaterThan(first.epoch());
        }
        next.close();
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
        ElectionCandidate leader =
                ElectionCandidate.start(one.named("x", fixture().shortLease(one)));
        Term first = leader.awaitTerm(1, ContractTestFixture.LONG);
        ElectionCandidate next =
                ElectionCandidate.start(two.named("x", fixture().shortLease(two)));
        ContractTestFixture.awaitWaiters(two, "x", 1);
        fixture().faultInjector().stopServer("S15 for an election");
        leader.awaitStop(first, fixture().backend().lease().plus(ContractTestFixture.PROMPT));
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
        Term second = next.terms() > 0 ? next.awaitTerm(1, Duration.ZERO) : leader.awaitTerm(2, Duration.ZERO);
        if (one.capabilities().contains(Capability.FENCING)) {
            assertThat(second.epoch()).as("S03").isGreaterThan(first.epoch());
        }
        next.close();
        leader.close();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.proof.TableBackendUnderTest;
import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.LockConformance;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that the kit passes correct backends that differ from those of Mortise, and fails those that only look correct. */
@Tag("long")
@Tag("once")
class UnusualBackendsTest {
    private static final String EACH_LEASE = "S14_everyLeaseDurationIsGrantedAsRequested";

    @Test
    void S14_leasesMayBeRoundedUpToWholeSeconds() throws Exception {
        KitRun run = KitRun.of(
                UnusualLeases.WholeSeconds.class,
                EACH_LEASE,
                "S14_perLockLeaseIsHonouredOrRefused",
                "S02_leasesOfManyLengthsAreRenewedInFullAndEndInTime");
        assertThat(run.failed()).isEmpty();
        assertThat(run.aborted()).isEmpty();
        assertThat(run.passed()).isEqualTo(8);
    }

    @Test
    void S14_leasesMayBeRoundedUpToTensOfSeconds() throws Exception {
        KitRun run = KitRun.of(
                UnusualLeases.TensOfSeconds.class,
                "S14_perLockLeaseIsHonouredOrRefused",
                "S02_aSilentHoldersLeaseEndsBeforeTheNextGrant",
                "S05_aLockIsFreeAfterItsDelayThoughNobodyAskedForIt",
                "S05_aDelayedReleaseWhoseReplyWasLostKeepsTheLock",
                "S05_aDelayedReleaseThatArrivesAfterTheGrantHasEndedKeepsNothing",
                "S05_aCutDuringADelayedReleaseNeitherFreesNorKeepsTheLock",
                "S05_aDelayedReleaseOverASlowLinkKeepsTheLockForItsDelay");
        assertThat(run.failed()).isEmpty();
        assertThat(run.aborted()).isEmpty();
        assertThat(run.passed()).isEqualTo(9);
    }

    @Test
    void S14_leasesMayNotIgnoreTheRequest() throws Exception {
        KitRun run = KitRun.of(UnusualLeases.AlwaysOneHour.class, "S14_perLockLeaseIsHonouredOrRefused");
        assertThat(run.failed()).singleElement().asString().contains("in force for BackendUnderTest.lease()");
    }

    @Test
    void S14_leasesMayBeLimitedToLittleMoreThanThoseOfTheTests() throws Exception {
        KitRun run = KitRun.of(
                UnusualLeases.AtMost5Seconds.class,
                "S01_randomOperationsAgreeWithTheModel",
                "S02_aSilentHoldersLeaseEndsBeforeTheNextGrant",
                "S06_aGrantThatWasDeletedDuringACutStaysDeleted",
                "S07_renewalsContinueAfterAFaultHasHealed",
                "S08_aLostGrantThatLateRenewalsExtendedIsRemoved");
        assertThat(run.failed()).isEmpty();
        assertThat(run.aborted()).singleElement().asString().contains("grants no lease of");
    }

    @Test
    void S14_leasesMayNotBeRoundedDown() throws Exception {
        KitRun run = KitRun.of(UnusualLeases.RoundedDown.class, EACH_LEASE);
        assertThat(run.failed()).hasSize(4).allMatch(failure -> failure.contains("is not rounded up, but to"));
    }

    @Test
    void S14_leasesMayBeLimitedTo10Seconds() throws Exception {
        KitRun run = KitRun.of(
                UnusualLeases.AtMost10Seconds.class,
                EACH_LEASE,
                "S14_perLockLeaseIsHonouredOrRefused",
                "capabilities_eachWorksOrIsRefused",
                "S05_aDelayedReleaseEndsTheLeaseAtOnceAndTheLockLater",
                "S05_aRenewalThatIsExecutedLateDoesNotReplaceTheDelay",
                "S07_aRenewalWithoutAReplyIsNoLoss",
                "S08_aGrantWhoseLostReplyIsMissedLateIsNotWaitedFor");
        assertThat(run.failed()).isEmpty();
        assertThat(run.aborted())
                .filteredOn(reason -> reason.contains("grants no lease of"))
                .as("durations that are not granted")
                .hasSize(3);
    }

    @Test
    void S14_leasesMayBeNoShorterThan12Seconds() throws Exception {
        KitRun run = KitRun.of(
                UnusualLeases.AtLeast12Seconds.class,
                EACH_LEASE,
                "S14_perLockLeaseIsHonouredOrRefused",
                "S05_aDelayedReleaseEndsTheLeaseAtOnceAndTheLockLater",
                "S05_aLockIsFreeAfterItsDelayThoughNobodyAskedForIt",
                "S11_aWaiterNoticesTheEndOfALeaseThatIsLongerThanItsTimer");
        assertThat(run.failed()).isEmpty();
        assertThat(run.aborted())
                .filteredOn(reason -> reason.contains("grants no lease of"))
                .as("durations that are not granted")
                .hasSize(3);
    }

    @Test
    void S11_locksMayStayTakenAfterACrashIfTheBackendSaysSo() throws Exception {
        KitRun run = KitRun.of(
                UnusualCapabilities.NoExpiry.class,
                "S01_historyOfSeveralClients",
                "S02_leasesOfManyLengthsAreRenewedInFullAndEndInTime",
                "S11_waitersWithLongLeasesTakeAShortOneOverInTime");
        assertThat(run.failed()).isEmpty();
        assertThat(run.aborted()).singleElement().asString().contains("not claimed: CRASH_RELEASE");
        assertThat(run.passed()).isEqualTo(2);
    }

    @Test
    void S15_aConnectMayNotFailAtOnce() throws Exception {
        KitRun run = KitRun.of(FailsAtOnce.class, "S15_connectWaitsForAServerThatStarts");
        assertThat(run.failed()).singleElement().asString().contains("S15: connect did not wait for the server");
    }

    /** Runs the conformance tests on a table whose clients try to connect only once. */
    static class FailsAtOnce extends LockConformance {
        @Override
        protected BackendUnderTest backend() {
            return new TableBackendUnderTest() {
                @Override
                protected void reach(String endpoints, Duration connectTimeout) {
                    super.reach(endpoints, Duration.ofNanos(1));
                }
            };
        }
    }

    @Test
    void S12_aQueueOfOneClientIsNotFair() throws Exception {
        KitRun run = KitRun.of(UnusualCapabilities.LocallyFair.class, "S12_clientsAreGrantedInTheOrderOfArrival");
        assertThat(run.failed()).hasSize(2).allMatch(failure -> failure.contains("exactly (and in same order)"));
    }
}

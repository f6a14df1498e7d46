// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static io.mortise.lock.redlock.Admission.Other.ADMITTED;
import static io.mortise.lock.redlock.Admission.Other.EMPTY;
import static io.mortise.lock.redlock.Admission.Other.FORGETFUL;
import static io.mortise.lock.redlock.Admission.Other.SILENT;
import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.redlock.Admission.Other;
import io.mortise.lock.redlock.Admission.Standing;
import io.mortise.lock.redlock.Admission.Verdict;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Three masters unless it says five; the longest lease is 100, and it is 1000. */
class AdmissionTest {
    private static final long LEASE = 100;
    private static final long NOW = 1000;

    private static Verdict of(Standing standing, Other... others) {
        return new Admission(new Quorum(others.length + 1), LEASE).of(standing, List.of(others));
    }

    private static Standing restarted(long boot) {
        return new Standing(false, true, boot, OptionalLong.of(boot), NOW);
    }

    private static Standing empty(long boot, long since) {
        return new Standing(false, false, boot, OptionalLong.of(since), NOW);
    }

    @Test
    void whoRemembersVotes() {
        assertThat(of(new Standing(true, true, 0, OptionalLong.empty(), NOW), SILENT, SILENT))
                .isEqualTo(new Verdict.Admitted());
    }

    @Test
    void S1_whoCameBackWithOldDataWaitsALeaseFromItsStart() {
        assertThat(of(restarted(930), ADMITTED, ADMITTED)).isEqualTo(new Verdict.Wait(30));
        assertThat(of(restarted(900), ADMITTED, ADMITTED)).isEqualTo(new Verdict.Admit(false));
    }

    @Test
    void S1_whoLostItsDataWaitsALeaseFromWhenThatWasSeen() {
        assertThat(of(empty(0, 930), ADMITTED, ADMITTED)).isEqualTo(new Verdict.Wait(30));
        assertThat(of(empty(0, 900), ADMITTED, ADMITTED)).isEqualTo(new Verdict.Admit(false));
        assertThat(of(new Standing(false, false, 0, OptionalLong.empty(), NOW), ADMITTED, ADMITTED))
                .as("not seen before")
                .isEqualTo(new Verdict.Wait(LEASE));
    }

    @Test
    void S3_itWaitsForThoseWhoKnowTheCountersAnotherLease() {
        assertThat(of(restarted(850), ADMITTED, SILENT)).isEqualTo(new Verdict.Wait(50));
        assertThat(of(restarted(800), ADMITTED, SILENT)).isEqualTo(new Verdict.Admit(true));
        assertThat(of(empty(0, 950), SILENT, SILENT)).isEqualTo(new Verdict.Wait(50));
        assertThat(of(empty(0, 850), SILENT, SILENT)).isEqualTo(new Verdict.Wait(50));
    }

    @Test
    void whereNobodyWhoComesBackCouldKnowMoreItDoesNotWaitForThem() {
        assertThat(of(restarted(900), ADMITTED, FORGETFUL)).isEqualTo(new Verdict.Admit(true));
        assertThat(of(restarted(900), FORGETFUL, SILENT)).isEqualTo(new Verdict.Admit(true));
        assertThat(of(restarted(900), FORGETFUL, EMPTY, SILENT, SILENT)).isEqualTo(new Verdict.Admit(true));
    }

    @Test
    void aNewNamespaceOnServersThatHaveRunForLongIsReadyAtOnce() {
        assertThat(of(empty(0, NOW), EMPTY, EMPTY)).isEqualTo(new Verdict.Admit(true));
        assertThat(of(empty(960, NOW), EMPTY, EMPTY))
                .as("it may have voted just before it was started")
                .isEqualTo(new Verdict.Wait(60));
    }

    @Test
    void S1_anEmptyOneAmongOthersThatAreNotMayHaveVotedUntilJustNow() {
        assertThat(of(empty(0, 990), EMPTY, FORGETFUL)).isEqualTo(new Verdict.Wait(90));
        assertThat(of(empty(0, 900), EMPTY, FORGETFUL)).isEqualTo(new Verdict.Admit(true));
        assertThat(of(empty(0, 990), EMPTY, SILENT)).isEqualTo(new Verdict.Wait(90));
    }

    @Test
    void ofFiveAnyThreeOthersKnowAll() {
        assertThat(of(restarted(900), ADMITTED, ADMITTED, ADMITTED, SILENT)).isEqualTo(new Verdict.Admit(false));
        assertThat(of(restarted(900), ADMITTED, ADMITTED, SILENT, SILENT)).isEqualTo(new Verdict.Wait(100));
        List<Other> forgetful = Collections.nCopies(4, FORGETFUL);
        assertThat(of(restarted(900), forgetful.toArray(Other[]::new))).isEqualTo(new Verdict.Admit(true));
    }
}

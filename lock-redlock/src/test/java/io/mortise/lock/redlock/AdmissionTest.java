// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static io.mortise.lock.redlock.Admission.Other.ADMITTED;
import static io.mortise.lock.redlock.Admission.Other.DISAGREES;
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
        return new Admission(new Quorum(others.length + 1), LEASE, false).of(standing, List.of(others));
    }

    private static Verdict inTests(Standing standing, Other... others) {
        return new Admission(new Quorum(others.length + 1), LEASE, true).of(standing, List.of(others));
    }

    private static Standing restarted(long since) {
        return new Standing(false, true, OptionalLong.of(LEASE), OptionalLong.of(since), NOW);
    }

    private static Standing empty(long since) {
        return new Standing(false, false, OptionalLong.empty(), OptionalLong.of(since), NOW);
    }

    @Test
    void whoRemembersVotes() {
        assertThat(of(new Standing(true, true, OptionalLong.of(LEASE), OptionalLong.empty(), NOW), SILENT, SILENT))
                .isEqualTo(new Verdict.Admitted());
    }

    @Test
    void S01_whoHasForgottenWaitsALeaseFromWhenThatWasSeen() {
        for (Standing late : List.of(restarted(930), empty(930))) {
            assertThat(of(late, ADMITTED, ADMITTED)).isEqualTo(new Verdict.Wait(30));
        }
        for (Standing early : List.of(restarted(900), empty(900))) {
            assertThat(of(early, ADMITTED, ADMITTED)).isEqualTo(new Verdict.Admit(false));
        }
        assertThat(of(new Standing(false, false, OptionalLong.empty(), OptionalLong.empty(), NOW), ADMITTED, ADMITTED))
                .as("not seen before")
                .isEqualTo(new Verdict.Wait(LEASE));
    }

    /** All may have voted until just now, however long they run: deleted data looks like none. */
    @Test
    void S01_whereAllAreEmptyTheyMayAllHaveForgotten() {
        assertThat(of(empty(NOW), EMPTY, EMPTY)).isEqualTo(new Verdict.Wait(LEASE));
        assertThat(of(empty(901), EMPTY, EMPTY)).isEqualTo(new Verdict.Wait(1));
        assertThat(of(empty(900), EMPTY, EMPTY)).isEqualTo(new Verdict.Admit(true));
    }

    @Test
    void S01_anEmptyOneAmongOthersThatAreNotMayHaveVotedUntilJustNow() {
        assertThat(of(empty(990), EMPTY, FORGETFUL)).isEqualTo(new Verdict.Wait(90));
        assertThat(of(empty(900), EMPTY, FORGETFUL)).isEqualTo(new Verdict.Admit(true));
        assertThat(of(empty(990), EMPTY, SILENT)).isEqualTo(new Verdict.Wait(90));
    }

    @Test
    void S03_itWaitsForThoseWhoKnowTheCountersAnotherLease() {
        assertThat(of(restarted(850), ADMITTED, SILENT)).isEqualTo(new Verdict.Wait(50));
        assertThat(of(restarted(800), ADMITTED, SILENT)).isEqualTo(new Verdict.Admit(true));
        assertThat(of(empty(950), SILENT, SILENT)).isEqualTo(new Verdict.Wait(50));
        assertThat(of(empty(850), SILENT, SILENT)).isEqualTo(new Verdict.Wait(50));
    }

    @Test
    void whereNobodyWhoComesBackCouldKnowMoreItDoesNotWaitForThem() {
        assertThat(of(restarted(900), ADMITTED, FORGETFUL)).isEqualTo(new Verdict.Admit(true));
        assertThat(of(restarted(900), FORGETFUL, SILENT)).isEqualTo(new Verdict.Admit(true));
        assertThat(of(restarted(900), FORGETFUL, EMPTY, SILENT, SILENT)).isEqualTo(new Verdict.Admit(true));
    }

    @Test
    void ofFiveAnyThreeOthersKnowAll() {
        assertThat(of(restarted(900), ADMITTED, ADMITTED, ADMITTED, SILENT)).isEqualTo(new Verdict.Admit(false));
        assertThat(of(restarted(900), ADMITTED, ADMITTED, SILENT, SILENT)).isEqualTo(new Verdict.Wait(100));
        List<Other> forgetful = Collections.nCopies(4, FORGETFUL);
        assertThat(of(restarted(900), forgetful.toArray(Other[]::new))).isEqualTo(new Verdict.Admit(true));
    }

    @Test
    void S01_whoMayHaveTheWrongLongestLeaseAdmitsNobody() {
        Standing other = new Standing(true, true, OptionalLong.of(LEASE + 1), OptionalLong.empty(), NOW);
        assertThat(of(other, ADMITTED, ADMITTED)).isEqualTo(new Verdict.Disagreement());
        Standing old = new Standing(false, true, OptionalLong.of(LEASE + 1), OptionalLong.of(0), NOW);
        assertThat(of(old, ADMITTED, ADMITTED)).isEqualTo(new Verdict.Disagreement());
        assertThat(of(empty(0), DISAGREES, ADMITTED)).isEqualTo(new Verdict.Disagreement());
        assertThat(of(new Standing(true, true, OptionalLong.of(LEASE), OptionalLong.empty(), NOW), DISAGREES, ADMITTED))
                .as("who was admitted by others goes on")
                .isEqualTo(new Verdict.Admitted());
    }

    @Test
    void inTestsAMasterThatIsKnownToBeNewVotesAtOnceWhoeverVotesByThen() {
        assertThat(inTests(empty(NOW), EMPTY, EMPTY)).isEqualTo(new Verdict.Admit(true));
        assertThat(inTests(empty(NOW), ADMITTED, FORGETFUL)).isEqualTo(new Verdict.Admit(true));
        assertThat(inTests(empty(NOW), DISAGREES, EMPTY)).isEqualTo(new Verdict.Disagreement());
    }
}

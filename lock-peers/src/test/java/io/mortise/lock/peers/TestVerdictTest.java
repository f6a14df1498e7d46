// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

class TestVerdictTest {
    private static final Peer CURATOR = new CuratorPeer(false, false);

    private static TestRecord record(String test, TestRecord.Status status, String message) {
        int runs = status == TestRecord.Status.ABORTED ? 0 : 1;
        return new TestRecord(test, "", status, message, runs, status == TestRecord.Status.FAILED ? 1 : 0, List.of());
    }

    private static TestVerdict verdict(String test, TestRecord.Status status, String message) {
        return TestVerdict.of(CURATOR, record(test, status, message));
    }

    @Test
    void aPassedTestIsKept() {
        assertThat(verdict("S01_x", TestRecord.Status.PASSED, "").verdict()).isEqualTo(Verdict.KEPT);
    }

    @Test
    void anUnexplainedFailureDoesNotCountAgainstThePeer() {
        TestVerdict verdict = verdict("S01_x", TestRecord.Status.FAILED, "[owners inside] expected 1 but was 2");
        assertThat(verdict.verdict()).isEqualTo(Verdict.NOT_CHECKED);
        assertThat(verdict.reason()).contains("not confirmed");
    }

    @Test
    void anExplainedFailureCounts() {
        TestVerdict verdict = verdict(
                "S09_waitsOnASilentStoreAreBounded",
                TestRecord.Status.FAILED,
                "[a wait of PT0S] | Expecting actual: | 23.737803819S | to be less than: | 4S");
        assertThat(verdict.verdict()).isEqualTo(Verdict.FAILED);
        assertThat(verdict.finding())
                .hasValueSatisfying(
                        finding -> assertThat(finding.reproduction()).isNotEmpty());
    }

    /** The JDK's {@code Lock.tryLock()} promises nothing on interrupts, unlike the methods that wait. */
    @Test
    void aTryThatDoesNotWaitNeedNotBeInterruptible() {
        TestRecord failed = new TestRecord(
                "S10_eachCallByAnInterruptedThreadThrows",
                "tryAcquire",
                TestRecord.Status.FAILED,
                "but was: BackendUnavailableException: RedisException: java.lang.InterruptedException",
                2,
                2,
                List.of());
        for (Peer peer : Peers.all()) {
            // All tests that interrupt a RedissonRedLock are left out.
            Verdict expected = peer.store() == StoreKind.REDIS_MASTERS ? Verdict.NOT_CHECKED : Verdict.NEVER_CLAIMED;
            assertThat(TestVerdict.of(peer, failed).verdict()).as(peer.id()).isEqualTo(expected);
        }
    }

    @Test
    void aFailureThatDoesNotRepeatAloneSaysSo() {
        TestRecord first = record("S01_x", TestRecord.Status.FAILED, "slow");
        TestRecord both = first.plus(record("S01_x", TestRecord.Status.PASSED, ""));
        assertThat(TestVerdict.of(CURATOR, both).verdict()).isEqualTo(Verdict.KEPT);
        assertThat(TestVerdict.of(CURATOR, both).reason()).contains("passed alone");
        TestRecord twice = first.plus(record("S01_x", TestRecord.Status.FAILED, "alone"));
        assertThat(twice.failures()).isEqualTo(2);
        assertThat(twice.message()).isEqualTo("alone");
        assertThat(TestVerdict.of(CURATOR, twice).reason()).contains("each time");
    }

    /** On a busy machine a test can fail before it gets to what the peer does not claim. */
    @Test
    void aFailureThatIsAnAbortAloneCountsAsAnAbort() {
        TestRecord failed = record("S06_x", TestRecord.Status.FAILED, "slow");
        TestRecord both = failed.plus(record("S06_x", TestRecord.Status.ABORTED, "never claimed: it"));
        assertThat(TestVerdict.of(CURATOR, both).verdict()).isEqualTo(Verdict.NEVER_CLAIMED);
    }

    @Test
    void anAbortNamesThePromiseThatIsMissing() {
        TestAbortedException abort = UnclaimedGuaranteeAbort.abort(Claim.LOSS_NOTIFICATION);
        TestVerdict verdict = verdict("S07_x", TestRecord.Status.ABORTED, String.valueOf(abort.getMessage()));
        assertThat(verdict.verdict()).isEqualTo(Verdict.NEVER_CLAIMED);
        assertThat(verdict.reason()).isEqualTo(Claim.LOSS_NOTIFICATION.description());
    }

    /** AssertJ wraps an abort where it expects another exception. */
    @Test
    void anAbortInsideAFailureCountsAsAnAbort() {
        String message =
                "Expecting actual throwable to be an instance of … | but was | never claimed: waiting for a held lock";
        assertThat(verdict("S09_x", TestRecord.Status.FAILED, message).verdict())
                .isEqualTo(Verdict.NEVER_CLAIMED);
    }

    @Test
    void theKitsOwnReasonsAreKept() {
        assertThat(verdict("S12_x", TestRecord.Status.ABORTED, "not claimed: FAIR")
                        .verdict())
                .isEqualTo(Verdict.NEVER_CLAIMED);
        TestVerdict unverified =
                verdict("S05_x", TestRecord.Status.ABORTED, "NOT VERIFIED: S05: this backend has no LockAdmin");
        assertThat(unverified.verdict()).isEqualTo(Verdict.NOT_CHECKED);
        assertThat(unverified.reason()).isEqualTo("S05: this backend has no LockAdmin");
    }

    @Test
    void oneFailureDecidesARule() {
        TestVerdict kept = verdict("S09_x", TestRecord.Status.PASSED, "");
        TestVerdict open = verdict("S09_y", TestRecord.Status.FAILED, "?");
        TestVerdict unclaimed = verdict("S09_z", TestRecord.Status.ABORTED, "never claimed: it");
        assertThat(PeersPage.ofRule(List.of(open, unclaimed, kept))).isEqualTo(Verdict.KEPT);
        assertThat(PeersPage.ofRule(List.of(open, unclaimed))).isEqualTo(Verdict.NEVER_CLAIMED);
        assertThat(PeersPage.ofRule(List.of(open))).isEqualTo(Verdict.NOT_CHECKED);
    }
}

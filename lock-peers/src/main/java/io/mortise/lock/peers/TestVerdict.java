// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import java.util.Optional;

/**
 * The verdict on a lock library that the result of one test gives, with its reason.
 *
 * @param record the test's result
 * @param verdict what it says about the peer
 * @param reason why, if the test did not simply pass
 * @param finding the explanation of a failure, if somebody has checked it
 */
record TestVerdict(TestRecord record, Verdict verdict, String reason, Optional<FailureExplanation> finding) {
    private static final String KIT_NOT_CLAIMED = "not claimed: ";
    private static final String KIT_NOT_VERIFIED = "NOT VERIFIED: ";

    /** Returns whether the test failed without an explanation. */
    boolean isOpen() {
        return record.status() == TestRecord.Status.FAILED && verdict == Verdict.NOT_CHECKED && finding.isEmpty();
    }

    /** Also leaves out what was in scope when the test ran, so that old results are judged as new ones. */
    static TestVerdict of(Peer peer, TestRecord record) {
        Optional<String> skipped = PeerTestFilter.reasonToSkip(peer, record.test(), record.argument());
        if (skipped.isPresent()) {
            return ofAborted(record, skipped.get());
        }
        return switch (record.status()) {
            case PASSED -> new TestVerdict(record, Verdict.KEPT, "", Optional.empty());
            case ABORTED -> ofAborted(record, record.message());
            case FAILED -> ofFailed(peer, record);
        };
    }

    private static TestVerdict ofAborted(TestRecord record, String why) {
        String message =
                why.replaceAll(" \\[\\w+\\.java:\\d+]", "").lines().findFirst().orElse("");
        Optional<String> unclaimed = UnclaimedGuaranteeAbort.in(message);
        if (unclaimed.isPresent()) {
            return new TestVerdict(record, Verdict.NEVER_CLAIMED, unclaimed.get(), Optional.empty());
        }
        int kit = message.indexOf(KIT_NOT_CLAIMED);
        if (kit >= 0) {
            String capability = message.substring(kit + KIT_NOT_CLAIMED.length());
            return new TestVerdict(record, Verdict.NEVER_CLAIMED, capability, Optional.empty());
        }
        String reason = message.replace(KIT_NOT_VERIFIED, "").replace("not checked: ", "");
        return new TestVerdict(record, Verdict.NOT_CHECKED, reason, Optional.empty());
    }

    private static TestVerdict ofFailed(Peer peer, TestRecord record) {
        Optional<String> unclaimed = UnclaimedGuaranteeAbort.in(record.message());
        if (unclaimed.isPresent()) {
            return new TestVerdict(record, Verdict.NEVER_CLAIMED, unclaimed.get(), Optional.empty());
        }
        Optional<FailureExplanation> finding = FailureExplanations.of(peer, record);
        if (finding.isPresent()) {
            return new TestVerdict(
                    record, finding.get().verdict(), finding.get().title(), finding);
        }
        if (record.failures() < record.runs()) {
            return new TestVerdict(record, Verdict.KEPT, "failed among other tests, passed alone", Optional.empty());
        }
        String reason = "failed each time; the cause is not confirmed";
        return new TestVerdict(record, Verdict.NOT_CHECKED, reason, Optional.empty());
    }
}

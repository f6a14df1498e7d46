// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.report;

import java.util.OptionalInt;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A reply that the kit had the link drop, with the evidence of whether it did; guarded by its {@link TestRecorder}, except for {@link #end}. */
final class LostReplyRecord {
    static final String FAULT = "dropNextReply";

    /** Null after the end: the record outlives the link. */
    private @Nullable Supplier<OptionalInt> dropped;

    private volatile OptionalInt count = OptionalInt.empty();

    /** Whether a request that was sent afterwards had a reply. */
    boolean answered;

    /** Whether a request had none. */
    boolean unanswered;

    /** @param dropped returns how many replies the link has dropped since; empty if it does not count them */
    LostReplyRecord(Supplier<OptionalInt> dropped) {
        this.dropped = dropped;
    }

    /** Notes that this fault has ended, or a later one has replaced it; called once. */
    void end() {
        Supplier<OptionalInt> ended = dropped;
        if (ended != null) {
            count = ended.get();
            dropped = null;
        }
    }

    /** If the link counts, requests are no evidence: one may have no reply for another reason. */
    FaultEffectCounts check() {
        OptionalInt counted = count;
        boolean confirmed = counted.isPresent() ? counted.getAsInt() > 0 : unanswered;
        boolean contradicted = answered && !confirmed;
        String missing = counted.isPresent()
                ? "FaultyLink.droppedReplies did not increase"
                : "no reply was missing (FaultyLink.droppedReplies counts none)";
        return new FaultEffectCounts(
                FAULT,
                confirmed ? 1 : 0,
                contradicted ? 1 : 0,
                confirmed || contradicted ? 0 : 1,
                contradicted ? "requests were answered, but " + missing : "");
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.report;

import java.util.function.IntSupplier;

/** A reply that the kit had the link drop, with the evidence of whether it did; guarded by its {@link TestRecorder}, except for {@link #end}. */
final class LostReplyRecord {
    static final String FAULT = "dropNextReply";

    private final IntSupplier dropped;
    private volatile boolean seen;

    /** Whether a request that was sent afterwards had a reply. */
    boolean answered;

    /** Whether a request had none. */
    boolean unanswered;

    /** @param dropped returns how many replies the link has dropped since; 0 if it does not count them */
    LostReplyRecord(IntSupplier dropped) {
        this.dropped = dropped;
    }

    /** Notes that from now on the link drops no reply, or another one. */
    void end() {
        seen = dropped.getAsInt() > 0;
    }

    FaultEffectCounts check() {
        boolean confirmed = seen || unanswered;
        boolean contradicted = answered && !confirmed;
        return new FaultEffectCounts(
                FAULT,
                confirmed ? 1 : 0,
                contradicted ? 1 : 0,
                confirmed || contradicted ? 0 : 1,
                contradicted ? "requests were answered, and no reply was missing" : "");
    }
}

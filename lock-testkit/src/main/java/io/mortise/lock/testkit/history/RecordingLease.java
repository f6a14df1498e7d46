// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import io.mortise.lock.Lease;
import io.mortise.lock.ReleaseOutcome;
import java.util.OptionalLong;

/** Wraps a lease and records its grant, checks, loss and release in a history. Thread-safe. */
public final class RecordingLease {
    private final HistoryRecorder recorder;
    private final AcquireCallId call;
    private final Lease lease;
    private final OptionalLong token;

    private RecordingLease(HistoryRecorder recorder, AcquireCallId call, Lease lease, OptionalLong token) {
        this.recorder = recorder;
        this.call = call;
        this.lease = lease;
        this.token = token;
    }

    static RecordingLease granted(HistoryRecorder recorder, AcquireCallId call, Lease lease) {
        UncertainInstant at = UncertainInstant.at(recorder.now());
        OptionalLong token = token(lease);
        recorder.record(new HistoryEvent.Granted(call, at, token));
        lease.lost()
                .thenAccept(reason -> recorder.record(
                        new HistoryEvent.LossReported(call, UncertainInstant.at(recorder.now()), reason.toString())));
        return new RecordingLease(recorder, call, lease, token);
    }

    private static OptionalLong token(Lease lease) {
        try {
            return OptionalLong.of(lease.fencingToken());
        } catch (UnsupportedOperationException e) {
            return OptionalLong.empty();
        }
    }

    /** Returns the fencing token; empty without FENCING. */
    public OptionalLong token() {
        return token;
    }

    /** Calls {@link Lease#isHeld()} and records the result. */
    public boolean checkHeld() {
        long start = recorder.now();
        boolean held = lease.isHeld();
        recorder.record(new HistoryEvent.Checked(call, recorder.since(start), held));
        return held;
    }

    /**
     * Writes to the resource with the lease's token, without checking the lease, as a late writer does. Writes nothing without
     * FENCING.
     *
     * @return whether the resource accepted the write; true without FENCING
     */
    public boolean write(ProtectedResource resource) throws InterruptedException {
        return token.isEmpty() || resource.write(call, token.getAsLong());
    }

    /** Calls {@link Lease#release()} and records its start and outcome. */
    public ReleaseOutcome release() {
        recorder.record(new HistoryEvent.Releasing(call, UncertainInstant.at(recorder.now())));
        ReleaseOutcome outcome = lease.release();
        recorder.record(new HistoryEvent.Released(call, UncertainInstant.at(recorder.now()), outcome));
        return outcome;
    }
}

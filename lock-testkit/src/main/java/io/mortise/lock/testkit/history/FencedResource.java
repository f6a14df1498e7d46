// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import java.util.HashMap;
import java.util.Map;

/** A resource for each lock that refuses lower tokens (S3), and records each decision. Thread-safe. */
public final class FencedResource implements ProtectedResource {
    private final EventRecorder recorder;
    private final Map<String, Long> highest = new HashMap<>(); // guarded by this

    /** Decisions go to that recorder. */
    public FencedResource(EventRecorder recorder) {
        this.recorder = recorder;
    }

    @Override
    public synchronized boolean write(AcquireCallId call, long token) {
        long start = recorder.now();
        boolean accepted = token >= highest.getOrDefault(call.lock(), Long.MIN_VALUE);
        if (accepted) {
            highest.put(call.lock(), token);
        }
        // Still under the monitor: the spans of two writes never overlap, so their order is certain.
        recorder.record(new HistoryEvent.Wrote(call, recorder.since(start), token, accepted));
        return accepted;
    }
}

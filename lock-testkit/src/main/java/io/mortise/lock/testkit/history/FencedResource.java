// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import java.util.HashMap;
import java.util.Map;

/**
 * Simulates one fenced resource per lock, which rejects writes with a token lower than the highest so far.
 *
 * <p>Rule S3. Thread-safe.
 */
public final class FencedResource implements ProtectedResource {
    private final HistoryRecorder recorder;
    private final Map<String, Long> highest = new HashMap<>(); // guarded by this

    /** Creates resources that record their decisions with {@code recorder}. */
    public FencedResource(HistoryRecorder recorder) {
        this.recorder = recorder;
    }

    @Override
    public synchronized boolean write(AcquireCallId call, long token) {
        long start = recorder.now();
        boolean accepted = token >= highest.getOrDefault(call.lock(), Long.MIN_VALUE);
        if (accepted) {
            highest.put(call.lock(), token);
        }
        // Recorded under the monitor: the periods of two writes never overlap, so their order is certain.
        recorder.record(new HistoryEvent.Wrote(call, recorder.since(start), token, accepted));
        return accepted;
    }
}

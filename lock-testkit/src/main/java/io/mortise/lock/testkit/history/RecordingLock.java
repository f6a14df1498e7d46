// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/** Wraps a lock and records its acquire calls and their results in a history. Thread-safe. */
public final class RecordingLock {
    // Shared by all locks of this JVM: two objects for the same lock of one process must not use the same numbers.
    private static final AtomicLong callNumbers = new AtomicLong();

    private final HistoryRecorder recorder;
    private final String process;
    private final DistributedLock lock;

    /**
     * Wraps a lock.
     *
     * @param process the process name to record; each client needs its own
     */
    public RecordingLock(HistoryRecorder recorder, String process, DistributedLock lock) {
        this.recorder = recorder;
        this.process = process;
        this.lock = lock;
    }

    /** Calls {@link DistributedLock#acquire()} and records the call. */
    public RecordingLease acquire() throws InterruptedException {
        return record(Optional.empty(), () -> Optional.of(lock.acquire())).orElseThrow();
    }

    /** Calls {@link DistributedLock#tryAcquire(Duration)} and records the call. */
    public Optional<RecordingLease> tryAcquire(Duration maxWait) throws InterruptedException {
        return record(Optional.of(maxWait), () -> lock.tryAcquire(maxWait));
    }

    private Optional<RecordingLease> record(Optional<Duration> limit, Acquire acquire) throws InterruptedException {
        AcquireCallId call = new AcquireCallId(process, lock.name(), callNumbers.incrementAndGet());
        recorder.record(new HistoryEvent.Requested(call, UncertainInstant.at(recorder.now()), limit));
        try {
            Optional<Lease> lease = acquire.call();
            if (lease.isEmpty()) {
                recorder.record(new HistoryEvent.GaveUp(call, UncertainInstant.at(recorder.now()), Optional.empty()));
            }
            return lease.map(granted -> RecordingLease.granted(recorder, call, granted));
        } catch (InterruptedException e) {
            recorder.record(new HistoryEvent.GaveUp(call, UncertainInstant.at(recorder.now()), Optional.empty()));
            throw e;
        } catch (RuntimeException e) {
            recorder.record(
                    new HistoryEvent.GaveUp(call, UncertainInstant.at(recorder.now()), Optional.of(e.toString())));
            throw e;
        }
    }

    private interface Acquire {
        Optional<Lease> call() throws InterruptedException;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/** A lock that records its requests and grants. Thread-safe. */
public final class RecordingLock {
    // Over all locks of this JVM: two objects for one lock of one process must not number their asks alike.
    private static final AtomicLong asks = new AtomicLong();

    private final EventRecorder recorder;
    private final String process;
    private final DistributedLock lock;

    /** @param process under which name; one for each client */
    public RecordingLock(EventRecorder recorder, String process, DistributedLock lock) {
        this.recorder = recorder;
        this.process = process;
        this.lock = lock;
    }

    /** {@link DistributedLock#acquire()}. */
    public RecordingLease acquire() throws InterruptedException {
        return ask(Optional.empty(), () -> Optional.of(lock.acquire())).orElseThrow();
    }

    /** {@link DistributedLock#tryAcquire(Duration)}. */
    public Optional<RecordingLease> tryAcquire(Duration maxWait) throws InterruptedException {
        return ask(Optional.of(maxWait), () -> lock.tryAcquire(maxWait));
    }

    private Optional<RecordingLease> ask(Optional<Duration> limit, Acquire acquire) throws InterruptedException {
        AcquireCallId call = new AcquireCallId(process, lock.name(), asks.incrementAndGet());
        recorder.record(new HistoryEvent.Asked(call, UncertainInstant.at(recorder.now()), limit));
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

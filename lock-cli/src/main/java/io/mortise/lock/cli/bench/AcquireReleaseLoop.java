// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.bench;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntFunction;
import org.HdrHistogram.Histogram;

/** Acquires and releases locks in a loop on several threads, and measures how long each step takes. */
final class AcquireReleaseLoop {
    /** The number of significant digits of each recorded time. */
    private static final int SIGNIFICANT_DIGITS = 3;

    private final int threads;
    private final Duration warmUp;
    private final Duration time;

    AcquireReleaseLoop(int threads, Duration warmUp, Duration time) {
        this.threads = threads;
        this.warmUp = warmUp;
        this.time = time;
    }

    /**
     * Runs all threads for the warm-up and the measured time. The first failure of a thread ends all of them.
     *
     * @param lockOf returns the lock of the thread with the given index
     */
    LatencyResult run(String name, IntFunction<DistributedLock> lockOf) throws InterruptedException {
        long from = System.nanoTime() + warmUp.toNanos();
        AtomicBoolean failed = new AtomicBoolean();
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Future<WorkerResult>> workers = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                DistributedLock lock = lockOf.apply(i);
                Callable<WorkerResult> task = () -> {
                    try {
                        return work(lock, from, failed);
                    } catch (InterruptedException | RuntimeException e) {
                        failed.set(true);
                        throw e;
                    }
                };
                workers.add(pool.submit(task));
            }
            return sum(name, from, workers);
        } finally {
            pool.shutdownNow(); // interrupts threads that still wait for a lock, which cancels their acquires
        }
    }

    private record WorkerResult(Histogram acquire, Histogram release, long ended) {}

    /** Runs one thread; records the cycles that begin within the measured time, at least one. */
    private WorkerResult work(DistributedLock lock, long from, AtomicBoolean failed) throws InterruptedException {
        long until = from + time.toNanos();
        Histogram acquire = new Histogram(SIGNIFICANT_DIGITS);
        Histogram release = new Histogram(SIGNIFICANT_DIGITS);
        long requested = System.nanoTime();
        while ((requested - until < 0 || acquire.getTotalCount() == 0) && !failed.get()) {
            Lease lease = lock.acquire();
            long held = System.nanoTime();
            lease.release();
            long released = System.nanoTime();
            if (requested - from >= 0) {
                acquire.recordValue(held - requested);
                release.recordValue(released - held);
            }
            requested = released;
        }
        return new WorkerResult(acquire, release, requested);
    }

    private LatencyResult sum(String name, long from, List<Future<WorkerResult>> workers) throws InterruptedException {
        Histogram acquire = new Histogram(SIGNIFICANT_DIGITS);
        Histogram release = new Histogram(SIGNIFICANT_DIGITS);
        long nanos = 1;
        for (Future<WorkerResult> worker : workers) {
            try {
                WorkerResult result = worker.get();
                acquire.add(result.acquire);
                release.add(result.release);
                nanos = Math.max(nanos, result.ended - from);
            } catch (ExecutionException e) {
                if (e.getCause() instanceof LockException known) {
                    throw known;
                }
                throw new IllegalStateException(e.getCause());
            }
        }
        return new LatencyResult(name, nanos / 1e9, acquire, release);
    }
}

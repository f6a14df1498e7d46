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

/** Threads that acquire and release in a loop; the first failure of one ends all. */
final class AcquireReleaseLoop {
    /** Of each time, significant ones. */
    private static final int DIGITS = 3;

    private final int threads;
    private final Duration warmUp;
    private final Duration time;

    AcquireReleaseLoop(int threads, Duration warmUp, Duration time) {
        this.threads = threads;
        this.warmUp = warmUp;
        this.time = time;
    }

    /** @param lockOf each thread's lock */
    LatencyFigures run(String name, IntFunction<DistributedLock> lockOf) throws InterruptedException {
        long from = System.nanoTime() + warmUp.toNanos();
        AtomicBoolean failed = new AtomicBoolean();
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Future<Counted>> all = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                DistributedLock lock = lockOf.apply(i);
                Callable<Counted> worker = () -> {
                    try {
                        return work(lock, from, failed);
                    } catch (InterruptedException | RuntimeException e) {
                        failed.set(true);
                        throw e;
                    }
                };
                all.add(pool.submit(worker));
            }
            return sum(name, from, all);
        } finally {
            pool.shutdownNow(); // interrupts whoever still waits, which withdraws it
        }
    }

    private record Counted(Histogram acquire, Histogram release, long ended) {}

    /** Counts what begins within the time that counts, at least one. */
    private Counted work(DistributedLock lock, long from, AtomicBoolean failed) throws InterruptedException {
        long until = from + time.toNanos();
        Histogram acquire = new Histogram(DIGITS);
        Histogram release = new Histogram(DIGITS);
        long asked = System.nanoTime();
        while ((asked - until < 0 || acquire.getTotalCount() == 0) && !failed.get()) {
            Lease lease = lock.acquire();
            long held = System.nanoTime();
            lease.release();
            long released = System.nanoTime();
            if (asked - from >= 0) {
                acquire.recordValue(held - asked);
                release.recordValue(released - held);
            }
            asked = released;
        }
        return new Counted(acquire, release, asked);
    }

    private LatencyFigures sum(String name, long from, List<Future<Counted>> all) throws InterruptedException {
        Histogram acquire = new Histogram(DIGITS);
        Histogram release = new Histogram(DIGITS);
        long nanos = 1;
        for (Future<Counted> one : all) {
            try {
                Counted counted = one.get();
                acquire.add(counted.acquire);
                release.add(counted.release);
                nanos = Math.max(nanos, counted.ended - from);
            } catch (ExecutionException e) {
                if (e.getCause() instanceof LockException known) {
                    throw known;
                }
                throw new IllegalStateException(e.getCause());
            }
        }
        return new LatencyFigures(name, nanos / 1e9, acquire, release);
    }
}

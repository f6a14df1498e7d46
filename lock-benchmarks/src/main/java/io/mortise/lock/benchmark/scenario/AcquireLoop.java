// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import io.mortise.lock.benchmark.backend.CompetitorSession;
import io.mortise.lock.benchmark.backend.HeldGrant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/** One thread that acquires and releases one lock in a loop. */
final class AcquireLoop {
    /** The name of the figure that tells most of the JIT compiler, whose own work is part of it, and least of the disk. */
    static final String CPU = "CPU of a cycle, ms";

    private static final Duration GRACE = Duration.ofSeconds(30);
    private static final int DIGITS = 3;

    /** So long that a second holder, if there can be one, comes in meanwhile. */
    private static final long FIRST_HOLD_NANOS = 2_000_000;

    private final CompetitorSession session;
    private final int client;
    private final String lock;
    private final ExclusionCounter exclusion;
    private final boolean awaited;

    AcquireLoop(CompetitorSession session, int client, String lock, ExclusionCounter exclusion, boolean awaited) {
        this.session = session;
        this.client = client;
        this.lock = lock;
        this.exclusion = exclusion;
        this.awaited = awaited;
    }

    /**
     * What all loops of one trial did together.
     *
     * @param handOffs how often a lock went from one client to another
     * @param seconds from the start of the first to the end of the last
     * @param cpuNanos that this process used meanwhile; the server, where it is one of ours, is part of it
     */
    record Total(long cycles, long handOffs, double seconds, long cpuNanos, Histogram nanos) {
        double cyclesPerSecond() {
            return cycles / seconds;
        }

        double handOffsPerSecond() {
            return handOffs / seconds;
        }

        double cpuMillisOfACycle() {
            return cpuNanos / 1e6 / cycles;
        }

        double millisAt(double percentile) {
            return nanos.getValueAtPercentile(percentile) / 1e6;
        }
    }

    /** Runs them at once, for so long, after one cycle of each that does not count. */
    static Total run(CompetitorRound trial, Duration measured, List<AcquireLoop> loops) throws Exception {
        try (WorkerThreads workers = new WorkerThreads(trial.toString(), loops.size())) {
            workers.together(each(loops, AcquireLoop::first), GRACE);
            long before = handOffs(loops);
            long cpu = cpuNanos();
            long start = System.nanoTime();
            long until = start + measured.toNanos();
            Histogram nanos = new Histogram(DIGITS);
            workers.together(each(loops, loop -> loop.cycles(until)), measured.plus(GRACE))
                    .forEach(nanos::add);
            double seconds = (System.nanoTime() - start) / 1e9;
            return new Total(nanos.getTotalCount(), handOffs(loops) - before, seconds, cpuNanos() - cpu, nanos);
        }
    }

    private static long cpuNanos() {
        return ProcessHandle.current()
                .info()
                .totalCpuDuration()
                .orElse(Duration.ZERO)
                .toNanos();
    }

    private static long handOffs(List<AcquireLoop> loops) {
        return loops.stream()
                .map(loop -> loop.exclusion)
                .distinct()
                .mapToLong(ExclusionCounter::handOffs)
                .sum();
    }

    private interface Step<T> {
        T run(AcquireLoop loop) throws Exception;
    }

    private static <T> List<Callable<T>> each(List<AcquireLoop> loops, Step<T> step) {
        List<Callable<T>> tasks = new ArrayList<>();
        loops.forEach(loop -> tasks.add(() -> step.run(loop)));
        return tasks;
    }

    private boolean first() throws Exception {
        HeldGrant held = session.acquire(lock);
        exclusion.enter(client, held);
        LockSupport.parkNanos(FIRST_HOLD_NANOS);
        exclusion.leave();
        held.release();
        return true;
    }

    private Histogram cycles(long until) throws Exception {
        Histogram nanos = new Histogram(DIGITS);
        long before = System.nanoTime();
        do {
            cycle();
            long now = System.nanoTime();
            nanos.recordValue(now - before);
            before = now;
        } while (before - until < 0);
        return nanos;
    }

    private void cycle() throws Exception {
        HeldGrant held = session.acquire(lock);
        exclusion.enter(client, held);
        exclusion.leave();
        if (awaited) {
            held.release();
        } else {
            held.releaseAsync();
        }
    }
}

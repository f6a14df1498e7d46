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

/** Acquires and releases one lock in a loop, on one thread. */
final class AcquireLoop {
    /**
     * Name of the measurement for the warm-up. It includes the work of the JIT compiler, and depends little on the disk.
     */
    static final String CPU = "CPU per cycle, ms";

    private static final Duration GRACE = Duration.ofSeconds(30);
    private static final int DIGITS = 3;

    /** Hold time of the first cycle; long enough that a second holder would be noticed if the lock allowed one. */
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
     * Combined measurements of all loops of one round.
     *
     * @param cycles number of acquire-release cycles
     * @param handOffs number of times that a lock went from one client to another
     * @param seconds duration from the start of the first loop to the end of the last one
     * @param cpuNanos CPU time of this process, which includes a server that runs in this JVM
     * @param nanos durations of the cycles
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

    /** Runs all loops in parallel for the given duration, after one unmeasured cycle of each. */
    static Total run(CompetitorRoundRunner round, Duration measured, List<AcquireLoop> loops) throws Exception {
        try (WorkerThreads workers = new WorkerThreads(round.toString(), loops.size())) {
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

    static long cpuNanos() {
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

    /** Runs all loops in parallel from their first cycle on, until the time of {@code cold} is over. */
    static void runCold(CheckedSessions sessions, ColdCounts cold, List<AcquireLoop> loops) throws Exception {
        try (WorkerThreads workers = new WorkerThreads(sessions.toString(), loops.size())) {
            workers.together(
                    each(loops, loop -> loop.coldCycles(cold)), cold.measured().plus(GRACE));
        }
    }

    private boolean coldCycles(ColdCounts cold) throws Exception {
        boolean handedOff;
        do {
            HeldGrant held = session.acquire(lock);
            cold.granted();
            handedOff = exclusion.enter(client, held);
            exclusion.leave();
            held.release();
        } while (cold.completed(handedOff));
        return true;
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

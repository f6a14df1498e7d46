// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/** Counts what all threads of one round do in each second since this object was created. Thread-safe. */
final class ColdCounts {
    private final long start = System.nanoTime();
    private final boolean handOffsOnly;
    private final AtomicLongArray perSecond;
    private final AtomicLong firstGrantNanos = new AtomicLong();
    private final AtomicLong cycles = new AtomicLong();

    /**
     * Starts to count.
     *
     * @param handOffsOnly whether a cycle counts only if the lock came from another client
     */
    ColdCounts(int seconds, boolean handOffsOnly) {
        this.handOffsOnly = handOffsOnly;
        this.perSecond = new AtomicLongArray(seconds);
    }

    Duration measured() {
        return Duration.ofSeconds(perSecond.length());
    }

    /** Records that a thread was granted a lock. */
    void granted() {
        if (firstGrantNanos.get() == 0) {
            firstGrantNanos.compareAndSet(0, System.nanoTime() - start);
        }
    }

    /** Counts a cycle that has just ended. Returns whether there is time for another one. */
    boolean completed(boolean handedOff) {
        cycles.getAndIncrement();
        long second = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
        if (second >= perSecond.length()) {
            return false;
        }
        if (handedOff || !handOffsOnly) {
            perSecond.getAndIncrement((int) second);
        }
        return true;
    }

    /** Returns the number of cycles, including those that ended too late to count. */
    long cycles() {
        return cycles.get();
    }

    double firstGrantMillis() {
        return firstGrantNanos.get() / 1e6;
    }

    /** Returns the rate of each second. */
    List<Double> rates() {
        double[] rates = new double[perSecond.length()];
        Arrays.setAll(rates, perSecond::get);
        return Arrays.stream(rates).boxed().toList();
    }
}

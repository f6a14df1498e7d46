// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.explorer;

import java.util.Arrays;

/** Replaces times by their ranks. Not thread-safe. */
final class Ranks {
    private long[] times = new long[16]; // sorted, none twice
    private long[] ranks = new long[16];
    private int size;

    void clear() {
        size = 0;
    }

    /** Adds a time, before the ranks are computed. */
    void add(long time) {
        int at = size;
        while (at > 0 && times[at - 1] > time) {
            at--;
        }
        if (at > 0 && times[at - 1] == time) {
            return;
        }
        if (size == times.length) {
            times = Arrays.copyOf(times, size * 2);
            ranks = new long[size * 2];
        }
        System.arraycopy(times, at, times, at + 1, size - at);
        times[at] = time;
        size++;
    }

    /** Computes the ranks. Long gaps between consecutive times are kept, rounded. */
    void compute() {
        for (int i = 1; i < size; i++) {
            long gap = times[i] - times[i - 1];
            ranks[i] = ranks[i - 1]
                    + (gap < StateKey.LONG_GAP_MICROS / 2
                            ? 1
                            : 1_000 * ((gap + StateKey.LONG_GAP_MICROS / 2) / StateKey.LONG_GAP_MICROS));
        }
    }

    /** Returns the rank of a time that was added; the first one has rank 0. */
    long of(long time) {
        int at = 0;
        while (times[at] != time) { // there are few
            at++;
        }
        return ranks[at];
    }
}

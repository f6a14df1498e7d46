// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** A time interval, in nanoseconds, between two instants on the clock of a recorded history. */
record TimeInterval(long from, long to) {
    long length() {
        return to - from;
    }

    boolean touches(TimeInterval other) {
        return from <= other.to && other.from <= to;
    }

    /** Returns the intervals sorted, without empty ones, and with touching ones merged. */
    static List<TimeInterval> union(List<TimeInterval> intervals) {
        List<TimeInterval> union = new ArrayList<>();
        intervals.stream()
                .filter(one -> one.from < one.to)
                .sorted(Comparator.comparingLong(TimeInterval::from))
                .forEach(one -> {
                    TimeInterval last = union.isEmpty() ? null : union.get(union.size() - 1);
                    if (last != null && last.touches(one)) {
                        union.set(union.size() - 1, new TimeInterval(last.from, Math.max(last.to, one.to)));
                    } else {
                        union.add(one);
                    }
                });
        return union;
    }

    /** Returns the parts of this interval that are outside all others. The others must be a {@link #union}. */
    List<TimeInterval> minus(List<TimeInterval> others) {
        List<TimeInterval> remaining = new ArrayList<>();
        long at = from;
        for (int i = firstEndingAfter(others, from); i < others.size() && others.get(i).from < to; i++) {
            if (at < others.get(i).from) {
                remaining.add(new TimeInterval(at, others.get(i).from));
            }
            at = others.get(i).to;
        }
        if (at < to) {
            remaining.add(new TimeInterval(at, to));
        }
        return remaining;
    }

    private static int firstEndingAfter(List<TimeInterval> sorted, long instant) {
        int low = 0;
        int high = sorted.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (sorted.get(middle).to > instant) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }
}

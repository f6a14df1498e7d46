// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** A period of time from one instant to another. */
record TimeInterval(long from, long to) {
    long length() {
        return to - from;
    }

    boolean touches(TimeInterval other) {
        return from <= other.to && other.from <= to;
    }

    /** Without empty ones, sorted, those that touch as one. */
    static List<TimeInterval> union(List<TimeInterval> stretches) {
        List<TimeInterval> union = new ArrayList<>();
        stretches.stream()
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

    /** What is left of this one. The others are a {@link #union}. */
    List<TimeInterval> minus(List<TimeInterval> others) {
        List<TimeInterval> left = new ArrayList<>();
        long at = from;
        for (int i = firstEndingAfter(others, from); i < others.size() && others.get(i).from < to; i++) {
            if (at < others.get(i).from) {
                left.add(new TimeInterval(at, others.get(i).from));
            }
            at = others.get(i).to;
        }
        if (at < to) {
            left.add(new TimeInterval(at, to));
        }
        return left;
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

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.report;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Median, minimum and maximum of several values. */
public record MedianAndRange(double median, double min, double max) {
    /**
     * Returns the median and the range of the values. The median of an even number of values is the mean of the two middle
     * ones.
     *
     * @throws IllegalArgumentException if there are no values
     */
    public static MedianAndRange of(List<Double> values) {
        if (values.isEmpty()) {
            throw new IllegalArgumentException("no values to take the median of");
        }
        List<Double> sorted = new ArrayList<>(values);
        Collections.sort(sorted);
        int size = sorted.size();
        double median = (sorted.get((size - 1) / 2) + sorted.get(size / 2)) / 2;
        return new MedianAndRange(median, sorted.get(0), sorted.get(size - 1));
    }
}

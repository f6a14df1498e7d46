// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import io.mortise.lock.benchmark.report.MedianAndRange;
import java.util.List;

/**
 * Decides whether a series of measurements is steady. It compares the median of the last rounds with the median of as many
 * rounds before them; medians, so that one disturbed round neither hides nor fakes a change.
 *
 * @param rounds number of rounds in each of the two groups
 * @param tolerance maximum difference between the two medians, as a fraction of the greater one
 */
record SteadyStateCheck(int rounds, double tolerance) {
    SteadyStateCheck {
        if (rounds < 1 || !(tolerance >= 0 && tolerance < 1)) {
            throw new IllegalArgumentException(rounds + " rounds, tolerance " + tolerance);
        }
    }

    /**
     * Returns whether the end of a series is steady.
     *
     * @param series values of 0 or more, the latest last; a series that is too short is not steady
     */
    boolean isSteady(List<Double> series) {
        int end = series.size();
        if (end < 2 * rounds) {
            return false;
        }
        double before = MedianAndRange.of(series.subList(end - 2 * rounds, end - rounds))
                .median();
        double last = MedianAndRange.of(series.subList(end - rounds, end)).median();
        return Math.min(before, last) >= (1 - tolerance) * Math.max(before, last);
    }
}

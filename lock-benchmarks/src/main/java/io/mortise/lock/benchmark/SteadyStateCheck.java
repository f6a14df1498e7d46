// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import io.mortise.lock.benchmark.report.MedianAndRange;
import java.util.List;

/**
 * Decides whether a series is steady: its last rounds and those before differ by less than a tolerance. Medians, so that one
 * disturbed round neither hides nor feigns a move.
 *
 * @param rounds how many are compared with how many
 * @param tolerance how much less the smaller median may be, as a part of the greater
 */
record SteadyStateCheck(int rounds, double tolerance) {
    SteadyStateCheck {
        if (rounds < 1 || !(tolerance >= 0 && tolerance < 1)) {
            throw new IllegalArgumentException(rounds + " rounds, tolerance " + tolerance);
        }
    }

    /** @param series values of 0 or more, the latest last; too short a series does not stand still */
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

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import io.mortise.lock.benchmark.report.Spread;
import java.util.List;

/**
 * Tells a series that stands still from one that still moves: the median of its last rounds and that of as many rounds
 * before them differ by no more than a tolerance. Medians, so that one disturbed round neither hides nor feigns a move.
 *
 * @param rounds how many are compared with how many
 * @param tolerance how much less the smaller median may be, as a part of the greater
 */
record SteadyState(int rounds, double tolerance) {
    SteadyState {
        if (rounds < 1 || !(tolerance >= 0 && tolerance < 1)) {
            throw new IllegalArgumentException(rounds + " rounds, tolerance " + tolerance);
        }
    }

    /** @param series values of 0 or more, the latest last; too short a series does not stand still */
    boolean standsStill(List<Double> series) {
        int end = series.size();
        if (end < 2 * rounds) {
            return false;
        }
        double before =
                Spread.of(series.subList(end - 2 * rounds, end - rounds)).median();
        double last = Spread.of(series.subList(end - rounds, end)).median();
        return Math.min(before, last) >= (1 - tolerance) * Math.max(before, last);
    }
}

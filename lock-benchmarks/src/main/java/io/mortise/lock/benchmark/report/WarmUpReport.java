// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.report;

import java.util.List;
import java.util.Map;

/**
 * The measurements of all competitors in the warm-up of one scenario.
 *
 * @param measure name of the measurement that had to become steady; empty if there was none
 * @param rounds values of that measurement by competitor, one per round
 * @param unsteady competitors whose values were not steady at the end
 */
public record WarmUpReport(String measure, Map<String, List<Double>> rounds, List<String> unsteady) {
    /** The report on a warm-up without measurements. */
    public static final WarmUpReport NOT_MEASURED = new WarmUpReport("", Map.of(), List.of());

    /** Returns the number of warm-up rounds of each competitor. */
    public int length() {
        return rounds.values().stream().mapToInt(List::size).max().orElse(0);
    }
}

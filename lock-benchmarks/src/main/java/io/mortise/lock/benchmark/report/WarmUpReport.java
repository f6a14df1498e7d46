// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.report;

import java.util.List;
import java.util.Map;

/**
 * Report on the warm-up of one scenario: the figures of each competitor, round by round.
 *
 * @param measure the figure that was to stand still; empty if none was
 * @param rounds its values by competitor, one a round
 * @param moving competitors whose figure had not come to stand still
 */
public record WarmUpReport(String measure, Map<String, List<Double>> rounds, List<String> moving) {
    /** Where no figure is watched. */
    public static final WarmUpReport UNWATCHED = new WarmUpReport("", Map.of(), List.of());

    /** How many rounds each competitor had. */
    public int length() {
        return rounds.values().stream().mapToInt(List::size).max().orElse(0);
    }
}

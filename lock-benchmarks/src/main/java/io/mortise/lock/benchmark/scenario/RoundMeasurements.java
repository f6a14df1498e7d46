// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Figures of one round of one competitor.
 *
 * @param values by measure, in the order of the table
 * @param requests requests to the server by kind, per unit of {@code requestsPer}; empty where nobody counts
 * @param requestsPer what requests are counted per, such as {@code hand-off}
 */
public record RoundMeasurements(Map<String, Double> values, Map<String, Double> requests, String requestsPer) {
    static RoundMeasurements of(Map<String, Double> values) {
        return new RoundMeasurements(values, Map.of(), "");
    }

    /**
     * The figure of this name.
     *
     * @throws IllegalArgumentException if there is none
     */
    public double value(String measure) {
        Double value = values.get(measure);
        if (value == null) {
            throw new IllegalArgumentException("no \"" + measure + "\" among " + values.keySet());
        }
        return value;
    }

    /** For filling in order. */
    static Map<String, Double> inOrder() {
        return new LinkedHashMap<>();
    }

    /** Each count divided by {@code units}. */
    static Map<String, Double> per(double units, Map<String, Long> counts) {
        Map<String, Double> result = new TreeMap<>();
        counts.forEach((kind, count) -> result.put(kind, count / units));
        return result;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The measurements of one competitor in one benchmark round.
 *
 * @param values values by name of the measurement, in the order of the table
 * @param requests number of requests to the server by kind, per unit of {@code requestsPer}; empty if they are not counted
 * @param requestsPer unit to which {@code requests} refers, such as {@code hand-off}
 * @param perSecond rates of the single seconds of a round that began with the JVM; otherwise empty
 */
public record RoundMeasurements(
        Map<String, Double> values, Map<String, Double> requests, String requestsPer, List<Double> perSecond) {
    public RoundMeasurements(Map<String, Double> values, Map<String, Double> requests, String requestsPer) {
        this(values, requests, requestsPer, List.of());
    }

    static RoundMeasurements of(Map<String, Double> values) {
        return new RoundMeasurements(values, Map.of(), "");
    }

    static RoundMeasurements cold(Map<String, Double> values, List<Double> perSecond) {
        return new RoundMeasurements(values, Map.of(), "", perSecond);
    }

    /**
     * Returns the value of a measurement.
     *
     * @throws IllegalArgumentException if there is no measurement of that name
     */
    public double value(String measure) {
        Double value = values.get(measure);
        if (value == null) {
            throw new IllegalArgumentException("no \"" + measure + "\" among " + values.keySet());
        }
        return value;
    }

    /** Returns an empty map that keeps its entries in the order of insertion. */
    static Map<String, Double> inOrder() {
        return new LinkedHashMap<>();
    }

    /** Returns each count divided by {@code units}. */
    static Map<String, Double> per(double units, Map<String, Long> counts) {
        Map<String, Double> result = new TreeMap<>();
        counts.forEach((kind, count) -> result.put(kind, count / units));
        return result;
    }
}

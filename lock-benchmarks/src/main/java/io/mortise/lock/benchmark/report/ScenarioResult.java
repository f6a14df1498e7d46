// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.report;

import io.mortise.lock.benchmark.scenario.RoundMeasurements;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Results of all rounds of one scenario on one backend.
 *
 * @param warmUpReport report on the warm-up
 * @param rounds measured rounds by competitor, in the order of the table
 */
public record ScenarioResult(
        String backend,
        String scenario,
        String description,
        WarmUpReport warmUpReport,
        Map<String, List<RoundMeasurements>> rounds) {
    /** Returns the names of the competitors, in the order of the table. */
    public List<String> competitors() {
        return List.copyOf(rounds.keySet());
    }

    /** Returns the names of the measurements, in the order of the table. */
    public List<String> measures() {
        return rounds.values().stream()
                .flatMap(List::stream)
                .flatMap(measurements -> measurements.values().keySet().stream())
                .distinct()
                .toList();
    }

    /**
     * Returns a competitor's values of one measurement, one per round.
     *
     * @throws IllegalArgumentException if the competitor lacks the measurement in a round
     */
    public List<Double> values(String competitor, String measure) {
        return measurements(competitor).stream()
                .map(measurements -> {
                    Double value = measurements.values().get(measure);
                    if (value == null) {
                        throw new IllegalArgumentException(
                                backend + " " + scenario + " has no \"" + measure + "\" of " + competitor);
                    }
                    return value;
                })
                .toList();
    }

    /** Returns the median number of requests by kind; a kind that is missing in a round counts as zero. */
    public Map<String, Double> requests(String competitor) {
        List<RoundMeasurements> all = measurements(competitor);
        TreeSet<String> kinds = new TreeSet<>();
        all.forEach(measurements -> kinds.addAll(measurements.requests().keySet()));
        Map<String, Double> medians = new TreeMap<>();
        for (String kind : kinds) {
            List<Double> values = all.stream()
                    .map(measurements -> measurements.requests().getOrDefault(kind, 0.0))
                    .toList();
            medians.put(kind, MedianAndRange.of(values).median());
        }
        return medians;
    }

    /** Returns the unit to which {@link #requests} refers, such as {@code hand-off}. */
    public String requestsPer() {
        return measurements(competitors().get(0)).get(0).requestsPer();
    }

    private List<RoundMeasurements> measurements(String competitor) {
        List<RoundMeasurements> all = rounds.get(competitor);
        if (all == null) {
            throw new IllegalArgumentException(backend + " " + scenario + " had no competitor " + competitor);
        }
        return all;
    }
}

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
 * @param warmedUp what came before them
 * @param rounds by competitor, in the order of the table
 */
public record ScenarioResult(
        String backend,
        String scenario,
        String description,
        WarmUpReport warmedUp,
        Map<String, List<RoundMeasurements>> rounds) {
    /** In the order of the table. */
    public List<String> competitors() {
        return List.copyOf(rounds.keySet());
    }

    /** In the order of the table. */
    public List<String> measures() {
        return rounds.values().stream()
                .flatMap(List::stream)
                .flatMap(figures -> figures.values().keySet().stream())
                .distinct()
                .toList();
    }

    /**
     * One value a round.
     *
     * @throws IllegalArgumentException if the competitor lacks this measure in a round
     */
    public List<Double> values(String competitor, String measure) {
        return figures(competitor).stream()
                .map(figures -> {
                    Double value = figures.values().get(measure);
                    if (value == null) {
                        throw new IllegalArgumentException(
                                backend + " " + scenario + " has no \"" + measure + "\" of " + competitor);
                    }
                    return value;
                })
                .toList();
    }

    /** Median of the requests by kind; a kind that a round lacks counts as none. */
    public Map<String, Double> requests(String competitor) {
        List<RoundMeasurements> all = figures(competitor);
        TreeSet<String> kinds = new TreeSet<>();
        all.forEach(figures -> kinds.addAll(figures.requests().keySet()));
        Map<String, Double> medians = new TreeMap<>();
        for (String kind : kinds) {
            List<Double> values = all.stream()
                    .map(figures -> figures.requests().getOrDefault(kind, 0.0))
                    .toList();
            medians.put(kind, MedianAndRange.of(values).median());
        }
        return medians;
    }

    /** What {@link #requests} are counted per. */
    public String requestsPer() {
        return figures(competitors().get(0)).get(0).requestsPer();
    }

    private List<RoundMeasurements> figures(String competitor) {
        List<RoundMeasurements> all = rounds.get(competitor);
        if (all == null) {
            throw new IllegalArgumentException(backend + " " + scenario + " had no competitor " + competitor);
        }
        return all;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.report;

import io.mortise.lock.benchmark.scenario.RoundMeasurements;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.DoubleStream;

/** Sample results of a benchmark. */
final class Samples {
    /** Report on a warm-up at whose end the competitor {@code peer} was not steady. */
    static final WarmUpReport WARMED_UP = new WarmUpReport(
            "cycles/s",
            Map.of("mortise", List.of(1.0, 1.0), "raw", List.of(2.0, 2.0), "peer", List.of(3.0, 9.0)),
            List.of("peer"));

    private Samples() {}

    static RoundMeasurements measurements(double speed, double requests) {
        Map<String, Double> values = new LinkedHashMap<>();
        values.put("cycles/s", speed);
        values.put("requests per cycle", requests);
        return new RoundMeasurements(values, Map.of("delete", 1.0, "create2", requests), "cycle");
    }

    static List<RoundMeasurements> rounds(double requests, double... speeds) {
        return DoubleStream.of(speeds)
                .mapToObj(speed -> measurements(speed, requests))
                .toList();
    }

    static ScenarioResult result() {
        Map<String, List<RoundMeasurements>> rounds = new LinkedHashMap<>();
        rounds.put("mortise", rounds(0, 30_000, 10_000, 20_000));
        rounds.put("raw", rounds(0, 250_000, 100_000, 200_000));
        rounds.put("peer", rounds(2.5, 10_000, 10_000, 10_000));
        return new ScenarioResult("store", "one-thread", "sample description", WARMED_UP, rounds);
    }
}

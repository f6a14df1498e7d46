// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import io.mortise.lock.benchmark.backend.Competitor;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;

/** Runs one competitor in one scenario from its first call on, in a JVM that has just started. */
public final class ColdRound {
    private ColdRound() {}

    /**
     * Opens the sessions, then runs the scenario until {@code seconds} have passed since before that.
     *
     * @param scenario one of {@link Scenarios#cold}
     * @throws ExclusionViolationException if two clients held one lock at the same time
     */
    public static RoundMeasurements run(Scenario scenario, Competitor competitor, String endpoint, int seconds)
            throws Exception {
        LoopScenario loops = (LoopScenario) scenario;
        try (CheckedSessions sessions =
                new CheckedSessions("cold " + scenario.name() + ", " + competitor.name(), competitor, endpoint)) {
            long cpu = AcquireLoop.cpuNanos();
            ColdCounts counts = new ColdCounts(seconds, loops.countsHandOffs());
            return sessions.check(
                    () -> {
                        AcquireLoop.runCold(sessions, counts, loops.loops(sessions));
                        return measurements(counts, loops.countsHandOffs(), AcquireLoop.cpuNanos() - cpu);
                    },
                    counts.measured());
        }
    }

    private static RoundMeasurements measurements(ColdCounts counts, boolean handOffs, long cpuNanos) {
        List<Double> rates = counts.rates();
        Map<String, Double> values = RoundMeasurements.inOrder();
        values.put(handOffs ? "hand-offs/s" : "cycles/s", mean(rates, 0, rates.size()));
        values.put("in second 1", mean(rates, 0, 1));
        if (rates.size() > 1) {
            values.put("in seconds 2-5", mean(rates, 1, 5));
        }
        if (rates.size() > 5) {
            values.put("after second 5", mean(rates, 5, rates.size()));
        }
        values.put("first grant, ms", counts.firstGrantMillis());
        values.put(AcquireLoop.CPU, cpuNanos / 1e6 / counts.cycles());
        values.put("loaded classes", (double)
                ManagementFactory.getClassLoadingMXBean().getTotalLoadedClassCount());
        return RoundMeasurements.cold(values, rates);
    }

    private static double mean(List<Double> rates, int from, int to) {
        return rates.subList(from, Math.min(to, rates.size())).stream()
                .mapToDouble(Double::doubleValue)
                .average()
                .orElseThrow();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.report;

import io.mortise.lock.benchmark.backend.TestBed;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Formats the results of one scenario as a text table, in plain ASCII for any terminal and log. */
public final class BenchmarkTable {
    private final StringBuilder out = new StringBuilder();
    private final ScenarioResult result;
    private final List<PerformanceGoalResult> verdicts;

    private BenchmarkTable(ScenarioResult result, List<PerformanceGoalResult> verdicts) {
        this.result = result;
        this.verdicts = verdicts;
    }

    /** Returns the table, several lines each of which ends with a line break. */
    public static String of(ScenarioResult result, List<PerformanceGoalResult> verdicts) {
        return new BenchmarkTable(result, verdicts).print();
    }

    private String print() {
        out.append(result.backend()).append(' ').append(result.scenario()).append(": ");
        out.append(result.description()).append('\n');
        row("", "", "median", "min .. max", "ratio", "min .. max", "goal");
        for (String measure : result.measures()) {
            String label = measure;
            for (String competitor : result.competitors()) {
                cells(label, measure, competitor);
                label = "";
            }
        }
        verdicts.stream().filter(verdict -> verdict.goal().spansScenarios()).forEach(this::crossScenarioGoal);
        result.competitors().forEach(this::requests);
        warmUp(result.warmUpReport());
        return out.toString();
    }

    private void cells(String label, String measure, String competitor) {
        List<Double> values = result.values(competitor, measure);
        MedianAndRange spread = MedianAndRange.of(values);
        String median = number(spread.median());
        String range = range(spread.min(), spread.max());
        if (competitor.equals(TestBed.MORTISE)) {
            row(label, competitor, median, range, "", "", goal(measure, Optional.empty()));
            return;
        }
        MeasurementRatio ratio = MeasurementRatio.of(result.values(TestBed.MORTISE, measure), values);
        // A division by zero gives no meaningful ratio.
        boolean known = Double.isFinite(ratio.ofMedians());
        String times = known ? times(ratio.ofMedians()) + " x" : "-";
        String timesRange = Double.isFinite(ratio.max()) ? times(ratio.min()) + " .. " + times(ratio.max()) : "";
        row(label, competitor, median, range, times, timesRange, goal(measure, Optional.of(competitor)));
    }

    private String goal(String measure, Optional<String> against) {
        return PerformanceGoalResult.on(verdicts, measure, against)
                .map(PerformanceGoalResult::toString)
                .orElse("");
    }

    private void crossScenarioGoal(PerformanceGoalResult verdict) {
        out.append("  ").append(verdict.goal().measure()).append(" by ");
        out.append(verdict.goal().against().orElseThrow()).append(": ");
        out.append(times(verdict.value())).append(" x  ").append(verdict).append('\n');
    }

    private void requests(String competitor) {
        Map<String, Double> requests = result.requests(competitor);
        if (!requests.isEmpty()) {
            out.append("  requests per ").append(result.requestsPer()).append(", ");
            out.append(competitor).append(": ");
            out.append(requests.entrySet().stream()
                    .map(entry -> entry.getKey() + " " + number(entry.getValue()))
                    .collect(Collectors.joining(", ")));
            out.append('\n');
        }
    }

    private void warmUp(WarmUpReport warmUpReport) {
        int rounds = warmUpReport.length();
        if (rounds > 0) {
            out.append("  warmed up for ").append(rounds).append(rounds == 1 ? " round" : " rounds");
            out.append(", by ").append(warmUpReport.measure());
            if (!warmUpReport.unsteady().isEmpty()) {
                out.append("; NOT STEADY: ").append(String.join(", ", warmUpReport.unsteady()));
            }
            out.append('\n');
        }
    }

    private static String range(double min, double max) {
        return number(min) + " .. " + number(max);
    }

    private static String times(double ratio) {
        return ratio >= 0.1 ? number(ratio) : String.format(Locale.ROOT, "%.3f", ratio);
    }

    /** Formats a number with about three significant digits, which are enough for a comparison. */
    static String number(double value) {
        if (value >= 1e6) {
            return String.format(Locale.ROOT, "%.2fM", value / 1e6);
        }
        if (value >= 1e5) {
            return String.format(Locale.ROOT, "%.0fk", value / 1e3);
        }
        if (value >= 100) {
            return String.format(Locale.ROOT, "%,.0f", value);
        }
        int decimals = value >= 10 ? 1 : value >= 0.1 || value <= 0 ? 2 : value >= 0.01 ? 3 : 4;
        return String.format(Locale.ROOT, "%." + decimals + "f", value);
    }

    private void row(Object... columns) {
        String row = String.format(Locale.ROOT, "  %-24s%-8s%8s%18s%9s%16s  %s", columns);
        out.append(row.stripTrailing()).append('\n');
    }
}

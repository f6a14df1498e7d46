// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.report;

import io.mortise.lock.benchmark.backend.Backend;
import io.mortise.lock.benchmark.backend.Goal;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Results for people, at most 100 columns wide. Plain ASCII: it must look right in any terminal and any log. */
public final class Table {
    private Table() {}

    /** The block of one scenario. */
    public static String of(Result result, List<Goal> goals) {
        StringBuilder out = new StringBuilder();
        out.append(result.backend()).append(' ').append(result.scenario()).append(": ");
        out.append(result.description()).append('\n');
        row(out, "", "", "median", "min .. max", "ratio", "min .. max", "  goal");
        for (String measure : result.measures()) {
            String label = measure;
            for (String contender : result.contenders()) {
                figure(out, result, label, measure, contender, goals);
                label = "";
            }
        }
        for (String contender : result.contenders()) {
            requests(out, result, contender);
        }
        return out.toString();
    }

    private static void figure(
            StringBuilder out, Result result, String label, String measure, String contender, List<Goal> goals) {
        List<Double> values = result.values(contender, measure);
        Spread spread = Spread.of(values);
        String range = range(spread.least(), spread.most());
        if (contender.equals(Backend.MORTISE)) {
            String goal = goal(goals, result, measure, Optional.empty(), spread.median());
            row(out, label, contender, number(spread.median()), range, "", "", goal);
            return;
        }
        Ratio ratio = Ratio.of(result.values(Backend.MORTISE, measure), values);
        String goal = goal(goals, result, measure, Optional.of(contender), ratio.ofMedians());
        String ratioRange = Double.isFinite(ratio.ofMedians()) ? range(ratio.least(), ratio.most()) : "";
        row(out, label, contender, number(spread.median()), range, times(ratio.ofMedians()), ratioRange, goal);
    }

    private static String goal(
            List<Goal> goals, Result result, String measure, Optional<String> against, double value) {
        return goals.stream()
                .filter(goal -> goal.scenario().equals(result.scenario())
                        && goal.measure().equals(measure)
                        && goal.against().equals(against))
                .map(goal -> "  " + (goal.atLeast() ? ">= " : "<= ") + number(goal.bound())
                        + (goal.reachedBy(value) ? " ok" : " MISSED"))
                .findFirst()
                .orElse("");
    }

    private static void requests(StringBuilder out, Result result, String contender) {
        Map<String, Double> requests = result.requests(contender);
        if (!requests.isEmpty()) {
            out.append("  per ")
                    .append(result.requestsPer())
                    .append(", ")
                    .append(contender)
                    .append(": ")
                    .append(requests.entrySet().stream()
                            .map(entry -> entry.getKey() + " " + number(entry.getValue()))
                            .collect(Collectors.joining(", ")))
                    .append('\n');
        }
    }

    private static String times(double ratio) {
        return Double.isFinite(ratio) ? number(ratio) + " x" : "-";
    }

    private static String range(double least, double most) {
        return number(least) + " .. " + number(most);
    }

    /** Three digits are enough to compare by. */
    static String number(double value) {
        String pattern = value >= 100 ? "%,.0f" : value >= 10 ? "%.1f" : "%.2f";
        return String.format(Locale.ROOT, pattern, value);
    }

    private static void row(StringBuilder out, Object... columns) {
        out.append(String.format(Locale.ROOT, "  %-24s%-9s%9s%19s%8s%14s %s", columns)
                        .stripTrailing())
                .append('\n');
    }
}

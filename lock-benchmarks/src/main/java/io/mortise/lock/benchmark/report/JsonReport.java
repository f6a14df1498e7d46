// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.report;

import io.mortise.lock.benchmark.backend.Competitor;
import io.mortise.lock.benchmark.backend.TestBed;
import io.mortise.lock.benchmark.scenario.RoundMeasurements;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.jr.ob.JSON;

/**
 * Formats the results of a whole benchmark run as JSON.
 *
 * @param environment the machine of the run
 * @param settings values of the command's options
 * @param backends results of each backend
 */
public record JsonReport(MachineDescription environment, Map<String, Object> settings, List<OfBackend> backends) {
    /**
     * Results of one backend, with descriptions of the store and the competitors.
     *
     * @param competitors descriptions of the competitors by name
     * @param results one result per scenario
     * @param verdicts results of the goals
     */
    public record OfBackend(
            String name,
            String description,
            Map<String, String> competitors,
            List<ScenarioResult> results,
            List<PerformanceGoalResult> verdicts) {
        /** Returns the report on a backend; the backend must still be running. */
        public static OfBackend of(TestBed backend, List<ScenarioResult> results) {
            Map<String, String> competitors = new LinkedHashMap<>();
            for (Competitor competitor : backend.competitors()) {
                competitors.put(competitor.name(), competitor.description());
            }
            List<PerformanceGoalResult> verdicts = results.stream()
                    .flatMap(result -> PerformanceGoalResult.of(result, results, backend.goals()).stream())
                    .toList();
            return new OfBackend(backend.name(), backend.description(), competitors, results, verdicts);
        }
    }

    /** Returns one JSON object, in which each measurement is a list with one value per round. */
    public String toJson() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("environment", environment.toJson());
        json.put("settings", settings);
        json.put("backends", backends.stream().map(JsonReport::json).toList());
        return JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).asString(json);
    }

    private static Map<String, Object> json(OfBackend backend) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("name", backend.name());
        json.put("description", backend.description());
        json.put("competitors", backend.competitors());
        json.put("scenarios", backend.results().stream().map(JsonReport::json).toList());
        json.put("goals", backend.verdicts().stream().map(JsonReport::json).toList());
        return json;
    }

    private static Map<String, Object> json(ScenarioResult result) {
        Map<String, Object> measures = new LinkedHashMap<>();
        for (String measure : result.measures()) {
            Map<String, Object> competitors = new LinkedHashMap<>();
            for (String competitor : result.competitors()) {
                List<Double> values = result.values(competitor, measure);
                Map<String, Object> measurements = new LinkedHashMap<>();
                measurements.put("median", MedianAndRange.of(values).median());
                measurements.put("rounds", values);
                competitors.put(competitor, measurements);
            }
            measures.put(measure, competitors);
        }
        Map<String, Object> requests = new LinkedHashMap<>();
        result.competitors().forEach(competitor -> requests.put(competitor, result.requests(competitor)));
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("name", result.scenario());
        json.put("description", result.description());
        if (result.warmUpReport().length() > 0) {
            json.put("warmUp", json(result.warmUpReport()));
        }
        json.put("measures", measures);
        Map<String, Object> perSecond = perSecond(result);
        if (!perSecond.isEmpty()) {
            json.put("perSecond", perSecond);
        }
        if (!result.requestsPer().isEmpty()) {
            json.put("requestsPer", result.requestsPer());
            json.put("requests", requests);
        }
        return json;
    }

    /** Returns the rates of the single seconds of each round, by competitor; empty unless the rounds were cold. */
    private static Map<String, Object> perSecond(ScenarioResult result) {
        Map<String, Object> rates = new LinkedHashMap<>();
        result.rounds().forEach((competitor, rounds) -> {
            List<List<Double>> all =
                    rounds.stream().map(RoundMeasurements::perSecond).toList();
            if (!all.contains(List.<Double>of())) {
                rates.put(competitor, all);
            }
        });
        return rates;
    }

    private static Map<String, Object> json(WarmUpReport warmUpReport) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("measure", warmUpReport.measure());
        json.put("rounds", warmUpReport.rounds());
        json.put("notSteady", warmUpReport.unsteady());
        return json;
    }

    private static Map<String, Object> json(PerformanceGoalResult verdict) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("scenario", verdict.goal().scenario());
        json.put("measure", verdict.goal().measure());
        verdict.goal().against().ifPresent(other -> json.put("against", other.toString()));
        json.put(verdict.goal().atLeast() ? "atLeast" : "atMost", verdict.goal().bound());
        json.put("value", verdict.value());
        json.put("reached", verdict.reached());
        return json;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.report;

import io.mortise.lock.benchmark.backend.Competitor;
import io.mortise.lock.benchmark.backend.TestBed;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.jr.ob.JSON;

/**
 * A whole run as JSON.
 *
 * @param settings the options that were in force
 */
public record JsonReport(MachineDescription environment, Map<String, Object> settings, List<OfBackend> backends) {
    /**
     * Results of one backend, with all that a reader needs to know about it.
     *
     * @param competitors descriptions by name
     */
    public record OfBackend(
            String name,
            String description,
            Map<String, String> competitors,
            List<ScenarioResult> results,
            List<PerformanceTargetResult> verdicts) {
        /** As long as it still runs. */
        public static OfBackend of(TestBed backend, List<ScenarioResult> results) {
            Map<String, String> competitors = new LinkedHashMap<>();
            for (Competitor competitor : backend.competitors()) {
                competitors.put(competitor.name(), competitor.description());
            }
            List<PerformanceTargetResult> verdicts = results.stream()
                    .flatMap(result -> PerformanceTargetResult.of(result, results, backend.goals()).stream())
                    .toList();
            return new OfBackend(backend.name(), backend.description(), competitors, results, verdicts);
        }
    }

    /** One object; figures as lists of one value a round. */
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
                Map<String, Object> figures = new LinkedHashMap<>();
                figures.put("median", MedianAndRange.of(values).median());
                figures.put("rounds", values);
                competitors.put(competitor, figures);
            }
            measures.put(measure, competitors);
        }
        Map<String, Object> requests = new LinkedHashMap<>();
        result.competitors().forEach(competitor -> requests.put(competitor, result.requests(competitor)));
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("name", result.scenario());
        json.put("description", result.description());
        if (result.warmedUp().length() > 0) {
            json.put("warmUp", json(result.warmedUp()));
        }
        json.put("measures", measures);
        if (!result.requestsPer().isEmpty()) {
            json.put("requestsPer", result.requestsPer());
            json.put("requests", requests);
        }
        return json;
    }

    private static Map<String, Object> json(WarmUpReport warmedUp) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("measure", warmedUp.measure());
        json.put("rounds", warmedUp.rounds());
        json.put("notSteady", warmedUp.moving());
        return json;
    }

    private static Map<String, Object> json(PerformanceTargetResult verdict) {
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

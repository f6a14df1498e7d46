// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import io.mortise.lock.benchmark.backend.Competitor;
import io.mortise.lock.benchmark.report.WarmUpReport;
import io.mortise.lock.benchmark.scenario.RoundMeasurements;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Runs unmeasured warm-up rounds until every competitor's results are steady. The competitors take turns here too, since they
 * share the server and much of the client.
 *
 * @param maxRounds number of rounds after which the warm-up ends in any case; 0 for no warm-up
 * @param steady decides whether one competitor's results are steady
 */
record WarmUpRounds(int maxRounds, SteadyStateCheck steady) {
    /** The duration of one warm-up round. Being one second, it makes {@code maxRounds} a number of seconds. */
    static final Duration ROUND = Duration.ofSeconds(1);

    /** Returns the warm-up that the command uses, with the given maximum number of rounds. */
    static WarmUpRounds upTo(int rounds) {
        return new WarmUpRounds(rounds, new SteadyStateCheck(5, 0.1));
    }

    /** Runs one competitor for one warm-up round. */
    interface Turn {
        RoundMeasurements of(Competitor competitor) throws Exception;
    }

    /**
     * Runs the warm-up.
     *
     * @param measure name of the measurement that must become steady
     */
    WarmUpReport run(List<Competitor> competitors, String measure, Turn turn) throws Exception {
        Map<String, List<Double>> rounds = new LinkedHashMap<>();
        competitors.forEach(competitor -> rounds.put(competitor.name(), new ArrayList<>()));
        List<String> unsteady = List.copyOf(rounds.keySet());
        for (int round = 0; round < maxRounds && !unsteady.isEmpty(); round++) {
            for (Competitor competitor : ScenarioRunner.turns(competitors, round)) {
                double value = turn.of(competitor).value(measure);
                rounds.getOrDefault(competitor.name(), new ArrayList<>()).add(value);
            }
            unsteady = rounds.keySet().stream()
                    .filter(name -> !steady.isSteady(rounds.getOrDefault(name, List.of())))
                    .toList();
        }
        return new WarmUpReport(measure, rounds, unsteady);
    }
}

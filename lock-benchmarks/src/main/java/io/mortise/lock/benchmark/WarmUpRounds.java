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
 * Rounds before those that count, until all competitors are steady. They take turns here too, since they share the server and
 * much of the client.
 *
 * @param most rounds after which it ends in any case; 0: there is no warm-up
 */
record WarmUpRounds(int most, SteadyStateCheck steady) {
    /** How long a competitor runs in one round of it; {@code most} is a number of seconds for that reason. */
    static final Duration ROUND = Duration.ofSeconds(1);

    /** What the command does. */
    static WarmUpRounds upTo(int rounds) {
        return new WarmUpRounds(rounds, new SteadyStateCheck(5, 0.1));
    }

    /** One competitor's part of a round. */
    interface Turn {
        RoundMeasurements of(Competitor competitor) throws Exception;
    }

    /** @param measure the figure that is to stand still */
    WarmUpReport run(List<Competitor> competitors, String measure, Turn turn) throws Exception {
        Map<String, List<Double>> rounds = new LinkedHashMap<>();
        competitors.forEach(competitor -> rounds.put(competitor.name(), new ArrayList<>()));
        List<String> moving = List.copyOf(rounds.keySet());
        for (int round = 0; round < most && !moving.isEmpty(); round++) {
            for (Competitor competitor : ScenarioRunner.turns(competitors, round)) {
                double value = turn.of(competitor).value(measure);
                rounds.getOrDefault(competitor.name(), new ArrayList<>()).add(value);
            }
            moving = rounds.keySet().stream()
                    .filter(name -> !steady.isSteady(rounds.getOrDefault(name, List.of())))
                    .toList();
        }
        return new WarmUpReport(measure, rounds, moving);
    }
}

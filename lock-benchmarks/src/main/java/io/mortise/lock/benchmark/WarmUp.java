// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import io.mortise.lock.benchmark.backend.Competitor;
import io.mortise.lock.benchmark.report.WarmedUp;
import io.mortise.lock.benchmark.scenario.Figures;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The rounds before those that count: until a figure stands still for all competitors at once, so that none is measured
 * while the compiler still works on it. They take turns here too, since they share the server and much of the client.
 *
 * @param most rounds after which it ends in any case; 0: there is no warm-up
 */
record WarmUp(int most, SteadyState steady) {
    /** How long a competitor runs in one round of it; {@code most} is a number of seconds for that reason. */
    static final Duration ROUND = Duration.ofSeconds(1);

    /** What the command does. */
    static WarmUp upTo(int rounds) {
        return new WarmUp(rounds, new SteadyState(5, 0.1));
    }

    /** One competitor's part of a round. */
    interface Turn {
        Figures of(Competitor competitor) throws Exception;
    }

    /** @param measure the figure that is to stand still */
    WarmedUp run(List<Competitor> competitors, String measure, Turn turn) throws Exception {
        Map<String, List<Double>> rounds = new LinkedHashMap<>();
        competitors.forEach(competitor -> rounds.put(competitor.name(), new ArrayList<>()));
        List<String> moving = List.copyOf(rounds.keySet());
        for (int round = 0; round < most && !moving.isEmpty(); round++) {
            for (Competitor competitor : Runner.turns(competitors, round)) {
                double value = turn.of(competitor).value(measure);
                rounds.getOrDefault(competitor.name(), new ArrayList<>()).add(value);
            }
            moving = rounds.keySet().stream()
                    .filter(name -> !steady.standsStill(rounds.getOrDefault(name, List.of())))
                    .toList();
        }
        return new WarmedUp(measure, rounds, moving);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import io.mortise.lock.benchmark.backend.Contender;
import io.mortise.lock.benchmark.report.WarmedUp;
import io.mortise.lock.benchmark.scenario.Figures;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The rounds before those that count: until a figure stands still for all contenders at once, so that none is measured
 * while the compiler still works on it. They take turns here too, since they share the server and much of the client.
 *
 * @param most rounds after which it ends in any case; 0: there is no warm-up
 */
record WarmUp(int most, SteadyState steady) {
    /** How long a contender runs in one round of it; {@code most} is a number of seconds for that reason. */
    static final Duration ROUND = Duration.ofSeconds(1);

    /** What the command does. */
    static WarmUp upTo(int rounds) {
        return new WarmUp(rounds, new SteadyState(5, 0.1));
    }

    /** One contender's part of a round. */
    interface Turn {
        Figures of(Contender contender) throws Exception;
    }

    /** @param measure the figure that is to stand still */
    WarmedUp run(List<Contender> contenders, String measure, Turn turn) throws Exception {
        Map<String, List<Double>> rounds = new LinkedHashMap<>();
        contenders.forEach(contender -> rounds.put(contender.name(), new ArrayList<>()));
        List<String> moving = List.copyOf(rounds.keySet());
        for (int round = 0; round < most && !moving.isEmpty(); round++) {
            for (Contender contender : Runner.turns(contenders, round)) {
                double value = turn.of(contender).value(measure);
                rounds.getOrDefault(contender.name(), new ArrayList<>()).add(value);
            }
            moving = rounds.keySet().stream()
                    .filter(name -> !steady.standsStill(rounds.getOrDefault(name, List.of())))
                    .toList();
        }
        return new WarmedUp(measure, rounds, moving);
    }
}

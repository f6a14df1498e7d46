// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import io.mortise.lock.benchmark.backend.Backend;
import io.mortise.lock.benchmark.backend.Contender;
import io.mortise.lock.benchmark.report.Result;
import io.mortise.lock.benchmark.report.WarmedUp;
import io.mortise.lock.benchmark.scenario.Effort;
import io.mortise.lock.benchmark.scenario.Figures;
import io.mortise.lock.benchmark.scenario.Scenario;
import io.mortise.lock.benchmark.scenario.Trial;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Runs one scenario on one backend: rounds in which all contenders have their turn, in another order each time. */
final class Runner {
    private final Effort effort;
    private final WarmUp warmUp;
    private final int rounds;

    /**
     * @param effort of the rounds that count
     * @param rounds that count
     */
    Runner(Effort effort, WarmUp warmUp, int rounds) {
        this.effort = effort;
        this.warmUp = warmUp;
        this.rounds = rounds;
    }

    /** @throws io.mortise.lock.benchmark.scenario.ExclusionViolated if a contender let two in at once */
    Result run(Backend backend, Scenario scenario) throws Exception {
        Map<String, List<Figures>> figures = new LinkedHashMap<>();
        backend.contenders().forEach(contender -> figures.put(contender.name(), new ArrayList<>()));
        WarmedUp warmedUp;
        try (Line line = Line.to(backend.endpoint(), scenario.roundTrip())) {
            warmedUp = warmUp(backend, scenario, line);
            for (int round = 0; round < rounds; round++) {
                for (Contender contender : turns(backend.contenders(), round)) {
                    Figures given = trial(backend, scenario, contender, line.endpoint(), effort);
                    figures.getOrDefault(contender.name(), new ArrayList<>()).add(given);
                }
            }
        }
        return new Result(backend.name(), scenario.name(), scenario.description(), warmedUp, figures);
    }

    private WarmedUp warmUp(Backend backend, Scenario scenario, Line line) throws Exception {
        if (scenario.warmedUpBy().isPresent()) {
            // Past the delay: it is the same code, which runs far more often there.
            Effort round = new Effort(WarmUp.ROUND, effort.smoke());
            return warmUp.run(
                    backend.contenders(),
                    scenario.warmedUpBy().get(),
                    contender -> trial(backend, scenario, contender, backend.endpoint(), round));
        }
        if (warmUp.most() > 0) {
            for (Contender contender : backend.contenders()) {
                trial(backend, scenario, contender, line.endpoint(), effort);
            }
        }
        return WarmedUp.UNWATCHED;
    }

    private static Figures trial(
            Backend backend, Scenario scenario, Contender contender, String endpoint, Effort effort) throws Exception {
        String name = backend.name() + " " + scenario.name() + ", " + contender.name();
        try (Trial trial = new Trial(name, backend, contender, endpoint, effort)) {
            return trial.run(scenario);
        }
    }

    /** Who is first in one round is last in the next, and nobody always comes after the same one. */
    static <T> List<T> turns(List<T> all, int round) {
        List<T> turns = new ArrayList<>(all);
        Collections.rotate(turns, -(round / 2 % all.size()));
        if (round % 2 == 1) {
            Collections.reverse(turns);
        }
        return turns;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import io.mortise.lock.benchmark.backend.Competitor;
import io.mortise.lock.benchmark.backend.TestBed;
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

/** Runs one scenario on one backend: rounds in which all competitors have their turn, in another order each time. */
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

    /** @throws io.mortise.lock.benchmark.scenario.ExclusionViolated if a competitor let two in at once */
    Result run(TestBed backend, Scenario scenario) throws Exception {
        Map<String, List<Figures>> figures = new LinkedHashMap<>();
        List<Competitor> competitors =
                backend.competitors().stream().filter(scenario::suits).toList();
        competitors.forEach(competitor -> figures.put(competitor.name(), new ArrayList<>()));
        WarmedUp warmedUp;
        try (Line line = Line.to(backend.endpoint(), scenario.roundTrip())) {
            warmedUp = warmUp(backend, competitors, scenario, line);
            for (int round = 0; round < rounds; round++) {
                for (Competitor competitor : turns(competitors, round)) {
                    Figures given = trial(backend, scenario, competitor, line.endpoint(), effort);
                    figures.getOrDefault(competitor.name(), new ArrayList<>()).add(given);
                }
            }
        }
        return new Result(backend.name(), scenario.name(), scenario.description(), warmedUp, figures);
    }

    private WarmedUp warmUp(TestBed backend, List<Competitor> competitors, Scenario scenario, Line line)
            throws Exception {
        if (scenario.warmedUpBy().isPresent()) {
            // Past the delay: it is the same code, which runs far more often there.
            Effort round = new Effort(WarmUp.ROUND, effort.smoke());
            return warmUp.run(
                    competitors,
                    scenario.warmedUpBy().get(),
                    competitor -> trial(backend, scenario, competitor, backend.endpoint(), round));
        }
        if (warmUp.most() > 0) {
            for (Competitor competitor : competitors) {
                trial(backend, scenario, competitor, line.endpoint(), effort);
            }
        }
        return WarmedUp.UNWATCHED;
    }

    private static Figures trial(
            TestBed backend, Scenario scenario, Competitor competitor, String endpoint, Effort effort)
            throws Exception {
        String name = backend.name() + " " + scenario.name() + ", " + competitor.name();
        try (Trial trial = new Trial(name, backend, competitor, endpoint, effort)) {
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

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import io.mortise.lock.benchmark.backend.Competitor;
import io.mortise.lock.benchmark.backend.TestBed;
import io.mortise.lock.benchmark.report.ScenarioResult;
import io.mortise.lock.benchmark.report.WarmUpReport;
import io.mortise.lock.benchmark.scenario.CompetitorRound;
import io.mortise.lock.benchmark.scenario.RoundMeasurements;
import io.mortise.lock.benchmark.scenario.RoundSize;
import io.mortise.lock.benchmark.scenario.Scenario;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Runs one scenario on one backend: in each round each competitor once. */
final class ScenarioRunner {
    private final RoundSize effort;
    private final WarmUpRounds warmUp;
    private final int rounds;

    /**
     * @param effort of the rounds that count
     * @param rounds that count
     */
    ScenarioRunner(RoundSize effort, WarmUpRounds warmUp, int rounds) {
        this.effort = effort;
        this.warmUp = warmUp;
        this.rounds = rounds;
    }

    /** @throws io.mortise.lock.benchmark.scenario.ExclusionViolationException if a competitor let two in at once */
    ScenarioResult run(TestBed backend, Scenario scenario) throws Exception {
        Map<String, List<RoundMeasurements>> figures = new LinkedHashMap<>();
        List<Competitor> competitors =
                backend.competitors().stream().filter(scenario::suits).toList();
        competitors.forEach(competitor -> figures.put(competitor.name(), new ArrayList<>()));
        WarmUpReport warmedUp;
        try (DelayedLink line = DelayedLink.to(backend.endpoint(), scenario.roundTrip())) {
            warmedUp = warmUp(backend, competitors, scenario, line);
            for (int round = 0; round < rounds; round++) {
                for (Competitor competitor : turns(competitors, round)) {
                    RoundMeasurements given = trial(backend, scenario, competitor, line.endpoint(), effort);
                    figures.getOrDefault(competitor.name(), new ArrayList<>()).add(given);
                }
            }
        }
        return new ScenarioResult(backend.name(), scenario.name(), scenario.description(), warmedUp, figures);
    }

    private WarmUpReport warmUp(TestBed backend, List<Competitor> competitors, Scenario scenario, DelayedLink line)
            throws Exception {
        if (scenario.warmedUpBy().isPresent()) {
            // Past the delay: it is the same code, which runs far more often there.
            RoundSize round = new RoundSize(WarmUpRounds.ROUND, effort.smoke());
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
        return WarmUpReport.UNWATCHED;
    }

    private static RoundMeasurements trial(
            TestBed backend, Scenario scenario, Competitor competitor, String endpoint, RoundSize effort)
            throws Exception {
        String name = backend.name() + " " + scenario.name() + ", " + competitor.name();
        try (CompetitorRound trial = new CompetitorRound(name, backend, competitor, endpoint, effort)) {
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

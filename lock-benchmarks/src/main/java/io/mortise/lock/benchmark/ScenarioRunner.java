// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import io.mortise.lock.benchmark.backend.Competitor;
import io.mortise.lock.benchmark.backend.TestBed;
import io.mortise.lock.benchmark.report.ScenarioResult;
import io.mortise.lock.benchmark.report.WarmUpReport;
import io.mortise.lock.benchmark.scenario.CompetitorRoundRunner;
import io.mortise.lock.benchmark.scenario.RoundMeasurements;
import io.mortise.lock.benchmark.scenario.RoundSize;
import io.mortise.lock.benchmark.scenario.Scenario;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** Runs one scenario on one backend, executing each competitor once per round. */
final class ScenarioRunner {
    private final RoundSize roundSize;
    private final WarmUpRounds warmUp;
    private final int rounds;
    private final Predicate<String> competitorNames;

    /**
     * Creates a runner.
     *
     * @param roundSize size of a measured round
     * @param rounds number of measured rounds
     * @param competitorNames accepts the names of the competitors to run
     */
    ScenarioRunner(RoundSize roundSize, WarmUpRounds warmUp, int rounds, Predicate<String> competitorNames) {
        this.roundSize = roundSize;
        this.warmUp = warmUp;
        this.rounds = rounds;
        this.competitorNames = competitorNames;
    }

    /**
     * Warms up, then measures all competitors for which the scenario is meaningful.
     *
     * @throws io.mortise.lock.benchmark.scenario.ExclusionViolationException if a competitor granted one lock to two clients
     */
    ScenarioResult run(TestBed backend, Scenario scenario) throws Exception {
        Map<String, List<RoundMeasurements>> measurements = new LinkedHashMap<>();
        List<Competitor> competitors = backend.competitors().stream()
                .filter(competitor -> competitorNames.test(competitor.name()))
                .filter(scenario::isMeaningfulFor)
                .toList();
        competitors.forEach(competitor -> measurements.put(competitor.name(), new ArrayList<>()));
        WarmUpReport warmUpReport;
        try (DelayedLink link = DelayedLink.to(backend.endpoint(), scenario.roundTrip())) {
            warmUpReport = warmUp(backend, competitors, scenario, link);
            for (int round = 0; round < rounds; round++) {
                for (Competitor competitor : turns(competitors, round)) {
                    RoundMeasurements measured =
                            measureRound(backend, scenario, competitor, link.endpoint(), roundSize);
                    measurements
                            .getOrDefault(competitor.name(), new ArrayList<>())
                            .add(measured);
                }
            }
        }
        return new ScenarioResult(backend.name(), scenario.name(), scenario.description(), warmUpReport, measurements);
    }

    private WarmUpReport warmUp(TestBed backend, List<Competitor> competitors, Scenario scenario, DelayedLink link)
            throws Exception {
        if (scenario.warmUpMeasure().isPresent()) {
            // Without the delaying proxy: the same code runs far more often there.
            RoundSize round = new RoundSize(WarmUpRounds.ROUND, roundSize.smoke());
            return warmUp.run(
                    competitors,
                    scenario.warmUpMeasure().get(),
                    competitor -> measureRound(backend, scenario, competitor, backend.endpoint(), round));
        }
        if (warmUp.maxRounds() > 0) {
            for (Competitor competitor : competitors) {
                measureRound(backend, scenario, competitor, link.endpoint(), roundSize);
            }
        }
        return WarmUpReport.NOT_MEASURED;
    }

    private static RoundMeasurements measureRound(
            TestBed backend, Scenario scenario, Competitor competitor, String endpoint, RoundSize roundSize)
            throws Exception {
        String name = backend.name() + " " + scenario.name() + ", " + competitor.name();
        try (CompetitorRoundRunner round = new CompetitorRoundRunner(name, backend, competitor, endpoint, roundSize)) {
            return round.run(scenario);
        }
    }

    /** Returns the competitors in this round's order, which varies so that none always runs first or after the same one. */
    static <T> List<T> turns(List<T> all, int round) {
        List<T> turns = new ArrayList<>(all);
        Collections.rotate(turns, -(round / 2 % all.size()));
        if (round % 2 == 1) {
            Collections.reverse(turns);
        }
        return turns;
    }
}

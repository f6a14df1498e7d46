// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import io.mortise.lock.benchmark.backend.CompetitorSession;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** One client, one thread, one lock that nobody else wants. */
final class OneThreadScenario implements Scenario {
    private static final String LOCK = "one-thread";

    private final String name;
    private final Duration roundTrip;

    OneThreadScenario(String name, Duration roundTrip) {
        this.name = name;
        this.roundTrip = roundTrip;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String description() {
        return "one client, one thread, one lock that nobody else wants";
    }

    @Override
    public Duration roundTrip() {
        return roundTrip;
    }

    @Override
    public Optional<String> warmedUpBy() {
        return Optional.of(AcquireLoop.CPU);
    }

    @Override
    public RoundMeasurements run(CompetitorRound trial) throws Exception {
        CompetitorSession session = trial.open();
        AcquireLoop.Total awaited = loop(trial, session, true);
        AcquireLoop.Total async = loop(trial, session, false);
        Map<String, Double> values = RoundMeasurements.inOrder();
        values.put("cycles/s", awaited.cyclesPerSecond());
        values.put("cycles/s, async release", async.cyclesPerSecond());
        values.put(AcquireLoop.CPU, awaited.cpuMillisOfACycle());
        values.put("p99 of a cycle, ms", awaited.millisAt(99));
        return RoundMeasurements.of(values);
    }

    private static AcquireLoop.Total loop(CompetitorRound trial, CompetitorSession session, boolean awaited)
            throws Exception {
        Duration half = trial.effort().measured().dividedBy(2);
        return AcquireLoop.run(trial, half, List.of(new AcquireLoop(session, 0, LOCK, trial.alone(LOCK), awaited)));
    }
}

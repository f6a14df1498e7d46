// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import io.mortise.lock.benchmark.backend.CompetitorSession;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Measures acquire-release cycles of one client with one thread on an uncontended lock. */
final class SingleThreadScenario implements LoopScenario {
    private static final String LOCK = "one-thread";

    private final String name;
    private final Duration roundTrip;

    SingleThreadScenario(String name, Duration roundTrip) {
        this.name = name;
        this.roundTrip = roundTrip;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String description() {
        return "one client, one thread, one uncontended lock";
    }

    @Override
    public Duration roundTrip() {
        return roundTrip;
    }

    @Override
    public Optional<String> warmUpMeasure() {
        return Optional.of(AcquireLoop.CPU);
    }

    @Override
    public RoundMeasurements run(CompetitorRoundRunner round) throws Exception {
        CompetitorSession session = round.open();
        AcquireLoop.Total awaited = run(round, session, true);
        AcquireLoop.Total async = run(round, session, false);
        Map<String, Double> values = RoundMeasurements.inOrder();
        values.put("cycles/s", awaited.cyclesPerSecond());
        values.put("cycles/s, async release", async.cyclesPerSecond());
        values.put(AcquireLoop.CPU, awaited.cpuMillisOfACycle());
        values.put("p99 cycle time, ms", awaited.millisAt(99));
        return RoundMeasurements.of(values);
    }

    private static AcquireLoop.Total run(CompetitorRoundRunner round, CompetitorSession session, boolean awaited)
            throws Exception {
        Duration half = round.roundSize().measured().dividedBy(2);
        return AcquireLoop.run(round, half, List.of(loop(session, round, awaited)));
    }

    @Override
    public List<AcquireLoop> loops(CheckedSessions sessions) throws Exception {
        return List.of(loop(sessions.open(), sessions, true));
    }

    private static AcquireLoop loop(CompetitorSession session, CheckedSessions sessions, boolean awaited) {
        return new AcquireLoop(session, 0, LOCK, sessions.alone(LOCK), awaited);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Measures the hand-offs of one lock for which four single-threaded clients compete all the time. */
final class ContendedScenario implements LoopScenario {
    private static final String LOCK = "contended";
    private static final int CLIENTS = 4;

    private final String name;
    private final Duration roundTrip;

    ContendedScenario(String name, Duration roundTrip) {
        this.name = name;
        this.roundTrip = roundTrip;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String description() {
        return CLIENTS + " clients with one thread each, all competing for one lock";
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
        AcquireLoop.Total total = AcquireLoop.run(round, round.roundSize().measured(), loops(round));
        Map<String, Double> values = RoundMeasurements.inOrder();
        values.put("hand-offs/s", total.handOffsPerSecond());
        values.put(AcquireLoop.CPU, total.cpuMillisOfACycle());
        values.put("p99 cycle time, ms", total.millisAt(99));
        return RoundMeasurements.of(values);
    }

    @Override
    public boolean countsHandOffs() {
        return true;
    }

    @Override
    public List<AcquireLoop> loops(CheckedSessions sessions) throws Exception {
        ExclusionCounter exclusion = sessions.shared(LOCK);
        List<AcquireLoop> loops = new ArrayList<>();
        for (int client = 0; client < CLIENTS; client++) {
            loops.add(new AcquireLoop(sessions.open(), client, LOCK, exclusion, true));
        }
        return loops;
    }
}

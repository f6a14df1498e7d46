// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import io.mortise.lock.benchmark.backend.CompetitorSession;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Measures the throughput of one client with sixteen threads, each using its own lock. */
final class ParallelLocksScenario implements LoopScenario {
    private static final int THREADS = 16;

    @Override
    public String name() {
        return "sixteen-locks";
    }

    @Override
    public String description() {
        return "one client, " + THREADS + " threads, each on its own lock";
    }

    @Override
    public Optional<String> warmUpMeasure() {
        return Optional.of(AcquireLoop.CPU);
    }

    @Override
    public RoundMeasurements run(CompetitorRoundRunner round) throws Exception {
        AcquireLoop.Total total = AcquireLoop.run(round, round.roundSize().measured(), loops(round));
        Map<String, Double> values = RoundMeasurements.inOrder();
        values.put("cycles/s", total.cyclesPerSecond());
        values.put(AcquireLoop.CPU, total.cpuMillisOfACycle());
        values.put("p99 cycle time, ms", total.millisAt(99));
        return RoundMeasurements.of(values);
    }

    @Override
    public List<AcquireLoop> loops(CheckedSessions sessions) throws Exception {
        CompetitorSession session = sessions.open();
        List<AcquireLoop> loops = new ArrayList<>();
        for (int thread = 0; thread < THREADS; thread++) {
            String lock = "sixteen-" + thread;
            loops.add(new AcquireLoop(session, 0, lock, sessions.alone(lock), true));
        }
        return loops;
    }
}

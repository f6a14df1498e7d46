// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import io.mortise.lock.benchmark.backend.CompetitorSession;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** One client with sixteen threads, each on a lock of its own: what one connection carries. */
final class SixteenLocksScenario implements Scenario {
    private static final int THREADS = 16;

    @Override
    public String name() {
        return "sixteen-locks";
    }

    @Override
    public String description() {
        return "one client, " + THREADS + " threads on " + THREADS + " locks";
    }

    @Override
    public Optional<String> warmedUpBy() {
        return Optional.of(AcquireLoop.CPU);
    }

    @Override
    public RoundMeasurements run(CompetitorRound trial) throws Exception {
        CompetitorSession session = trial.open();
        List<AcquireLoop> loops = new ArrayList<>();
        for (int thread = 0; thread < THREADS; thread++) {
            String lock = "sixteen-" + thread;
            loops.add(new AcquireLoop(session, 0, lock, trial.alone(lock), true));
        }
        AcquireLoop.Total total = AcquireLoop.run(trial, trial.effort().measured(), loops);
        Map<String, Double> values = RoundMeasurements.inOrder();
        values.put("cycles/s", total.cyclesPerSecond());
        values.put(AcquireLoop.CPU, total.cpuMillisOfACycle());
        values.put("p99 of a cycle, ms", total.millisAt(99));
        return RoundMeasurements.of(values);
    }
}

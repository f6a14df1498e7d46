// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Four clients, each with one thread, that all want the same lock all the time. */
final class Contended implements Scenario {
    private static final String LOCK = "contended";
    private static final int CLIENTS = 4;

    private final String name;
    private final Duration roundTrip;

    Contended(String name, Duration roundTrip) {
        this.name = name;
        this.roundTrip = roundTrip;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String description() {
        return CLIENTS + " clients, each one thread, that all want one lock all the time";
    }

    @Override
    public Duration roundTrip() {
        return roundTrip;
    }

    @Override
    public Optional<String> warmedUpBy() {
        return Optional.of(Loop.CPU);
    }

    @Override
    public Figures run(Trial trial) throws Exception {
        Exclusion exclusion = trial.shared(LOCK);
        List<Loop> loops = new ArrayList<>();
        for (int client = 0; client < CLIENTS; client++) {
            loops.add(new Loop(trial.open(), client, LOCK, exclusion, true));
        }
        Loop.Total total = Loop.run(trial, trial.effort().measured(), loops);
        Map<String, Double> values = Figures.inOrder();
        values.put("hand-offs/s", total.handOffsPerSecond());
        values.put(Loop.CPU, total.cpuMillisOfACycle());
        values.put("p99 of a cycle, ms", total.millisAt(99));
        return Figures.of(values);
    }
}

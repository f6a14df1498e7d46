// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import io.mortise.lock.benchmark.backend.Session;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** One client, one thread, one lock that nobody else wants. */
final class OneThread implements Scenario {
    private static final String LOCK = "one-thread";

    private final String name;
    private final Duration roundTrip;

    OneThread(String name, Duration roundTrip) {
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
        return Optional.of(Loop.CPU);
    }

    @Override
    public Figures run(Trial trial) throws Exception {
        Session session = trial.open();
        Loop.Total awaited = loop(trial, session, true);
        Loop.Total async = loop(trial, session, false);
        Map<String, Double> values = Figures.inOrder();
        values.put("cycles/s", awaited.cyclesPerSecond());
        values.put("cycles/s, async release", async.cyclesPerSecond());
        values.put(Loop.CPU, awaited.cpuMillisOfACycle());
        values.put("p99 of a cycle, ms", awaited.millisAt(99));
        return Figures.of(values);
    }

    private static Loop.Total loop(Trial trial, Session session, boolean awaited) throws Exception {
        Duration half = trial.effort().measured().dividedBy(2);
        return Loop.run(trial, half, List.of(new Loop(session, 0, LOCK, trial.alone(LOCK), awaited)));
    }
}

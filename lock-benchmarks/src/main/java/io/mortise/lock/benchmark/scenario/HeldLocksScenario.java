// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import io.mortise.lock.benchmark.backend.CompetitorSession;
import io.mortise.lock.benchmark.backend.HeldGrant;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** One client that holds a thousand locks and does nothing: what it costs to keep them. */
final class HeldLocksScenario implements Scenario {
    private static final int LOCKS = 1_000;
    private static final int FEW_LOCKS = 50;
    private static final double PERIODS = 2;
    private static final double FEW_PERIODS = 1.5;
    private static final Duration AT_REST = Duration.ofMillis(300); // a new grant may be looked after a little later

    @Override
    public String name() {
        return "held";
    }

    @Override
    public String description() {
        return String.format(Locale.ROOT, "one client takes %,d locks (smoke: %d) and holds them", LOCKS, FEW_LOCKS);
    }

    @Override
    public RoundMeasurements run(CompetitorRound trial) throws Exception {
        int locks = trial.effort().times(LOCKS, FEW_LOCKS);
        CompetitorSession session = trial.open();
        session.acquire("held-0").release(); // threads that any use at all starts are not counted
        int threads = threads();
        long start = System.nanoTime();
        List<HeldGrant> held = new ArrayList<>();
        for (int lock = 0; lock < locks; lock++) {
            HeldGrant one = session.acquire("held-" + lock);
            trial.alone("held-" + lock).enter(0, one);
            held.add(one);
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        QuiescenceWait.await(trial, AT_REST, () -> true);
        Map<String, Long> before = trial.backend().requests();
        double periods = trial.effort().smoke() ? FEW_PERIODS : PERIODS;
        long renewal = trial.backend().renewal().toNanos();
        long since = System.nanoTime();
        // Requests at equal distances: in a little less than so many periods there are at most so many.
        TimeUnit.NANOSECONDS.sleep(Math.round((periods - 0.1) * renewal));
        Map<String, Long> sent = trial.requestsSince(before);
        double passed = Math.max(periods, (System.nanoTime() - since) / (double) renewal); // on a machine that stalls
        int more = Math.max(0, threads() - threads); // others of this JVM may have ended
        for (int lock = 0; lock < locks; lock++) {
            trial.alone("held-" + lock).leave();
            held.get(lock).releaseAsync();
        }
        QuiescenceWait.await(trial, AT_REST, () -> true);
        return figures(locks / seconds, more, passed, sent, trial);
    }

    private static int threads() {
        return ManagementFactory.getThreadMXBean().getThreadCount();
    }

    private static RoundMeasurements figures(
            double taken, int threads, double periods, Map<String, Long> sent, CompetitorRound trial) {
        Map<String, Double> values = RoundMeasurements.inOrder();
        values.put("locks taken/s", taken);
        if (trial.backend().isRemote()) {
            values.put("work a renewal period", CompetitorRound.sum(trial.work(sent)) / periods);
            for (String kind : trial.backend().keepAlive()) {
                values.put(kind + " a renewal period", sent.getOrDefault(kind, 0L) / periods);
            }
        }
        values.put("threads more", (double) threads);
        return new RoundMeasurements(values, RoundMeasurements.per(periods, sent), "renewal period");
    }
}

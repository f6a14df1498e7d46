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

/** Measures the requests and threads that an idle client needs to keep a thousand locks. */
final class HeldLocksScenario implements Scenario {
    private static final int LOCKS = 1_000;
    private static final int FEW_LOCKS = 50;
    private static final double PERIODS = 2;
    private static final double FEW_PERIODS = 1.5;
    private static final Duration AT_REST = Duration.ofMillis(300); // some work for a new grant is deferred a little

    @Override
    public String name() {
        return "held";
    }

    @Override
    public String description() {
        return String.format(Locale.ROOT, "one client acquires %,d locks (smoke: %d) and holds them", LOCKS, FEW_LOCKS);
    }

    @Override
    public RoundMeasurements run(CompetitorRoundRunner round) throws Exception {
        int locks = round.roundSize().times(LOCKS, FEW_LOCKS);
        CompetitorSession session = round.open();
        session.acquire("held-0")
                .release(); // starts the threads that any use of the client needs; they are not counted
        int threads = threads();
        long start = System.nanoTime();
        List<HeldGrant> held = new ArrayList<>();
        for (int lock = 0; lock < locks; lock++) {
            HeldGrant one = session.acquire("held-" + lock);
            round.alone("held-" + lock).enter(0, one);
            held.add(one);
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        QuiescenceWait.await(round, AT_REST, () -> true);
        Map<String, Long> before = round.backend().requests();
        double periods = round.roundSize().smoke() ? FEW_PERIODS : PERIODS;
        long renewal = round.backend().renewal().toNanos();
        long since = System.nanoTime();
        // Renewals are evenly spaced, so a little less than N periods contain at most N of them.
        TimeUnit.NANOSECONDS.sleep(Math.round((periods - 0.1) * renewal));
        Map<String, Long> sent = round.requestsSince(before);
        double passed =
                Math.max(periods, (System.nanoTime() - since) / (double) renewal); // more on a machine that stalls
        int more = Math.max(0, threads() - threads); // negative if unrelated threads of this JVM have ended
        for (int lock = 0; lock < locks; lock++) {
            round.alone("held-" + lock).leave();
            held.get(lock).releaseAsync();
        }
        QuiescenceWait.await(round, AT_REST, () -> true);
        return measurements(locks / seconds, more, passed, sent, round);
    }

    private static int threads() {
        return ManagementFactory.getThreadMXBean().getThreadCount();
    }

    private static RoundMeasurements measurements(
            double taken, int threads, double periods, Map<String, Long> sent, CompetitorRoundRunner round) {
        Map<String, Double> values = RoundMeasurements.inOrder();
        values.put("locks acquired/s", taken);
        if (round.backend().isRemote()) {
            values.put("work per renewal period", CompetitorRoundRunner.sum(round.work(sent)) / periods);
            for (String kind : round.backend().keepAlive()) {
                values.put(kind + " per renewal period", sent.getOrDefault(kind, 0L) / periods);
            }
        }
        values.put("added threads", (double) threads);
        return new RoundMeasurements(values, RoundMeasurements.per(periods, sent), "renewal period");
    }
}

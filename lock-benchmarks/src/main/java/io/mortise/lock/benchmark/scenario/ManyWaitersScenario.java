// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import io.mortise.lock.benchmark.backend.Competitor;
import io.mortise.lock.benchmark.backend.CompetitorSession;
import io.mortise.lock.benchmark.backend.HeldGrant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;

/** Measures the time and the number of requests needed until each of two hundred queued waiters has held the lock. */
final class ManyWaitersScenario implements Scenario {
    private static final String LOCK = "crowd";
    private static final int CLIENTS = 10;
    private static final int WAITERS = 200;
    private static final int FEW_CLIENTS = 4;
    private static final int FEW_WAITERS = 40;
    private static final Duration QUEUED_SPAN = Duration.ofMillis(100);
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @Override
    public String name() {
        return "crowd";
    }

    @Override
    public String description() {
        return WAITERS + " waiters of " + CLIENTS + " clients (smoke: " + FEW_WAITERS + " of " + FEW_CLIENTS
                + ") behind one holder, after its release";
    }

    /** Excludes polling competitors, since the scenario starts when all waiters are queued. */
    @Override
    public boolean isMeaningfulFor(Competitor competitor) {
        return !competitor.polls();
    }

    @Override
    public RoundMeasurements run(CompetitorRoundRunner round) throws Exception {
        int waiters = round.roundSize().times(WAITERS, FEW_WAITERS);
        int sessions = round.roundSize().times(CLIENTS, FEW_CLIENTS);
        ExclusionCounter exclusion = round.shared(LOCK);
        CompetitorSession first = round.open();
        HeldGrant holder = first.acquire(LOCK);
        exclusion.enter(sessions, holder);
        List<CompetitorSession> clients = new ArrayList<>();
        for (int client = 0; client < sessions; client++) {
            clients.add(round.open());
        }
        try (WorkerThreads workers = new WorkerThreads(round.toString(), waiters)) {
            List<Future<Long>> waiting = workers.start(waiters(waiters, clients, exclusion));
            QuiescenceWait.await(round, QUEUED_SPAN, workers::allWait);
            Map<String, Long> before = round.backend().requests();
            long start = System.nanoTime();
            exclusion.leave();
            holder.release();
            long end = start;
            for (long ended : workers.await(waiting, LIMIT)) {
                end = Math.max(end, ended);
            }
            return measurements(waiters, (end - start) / 1e9, round.workSince(before));
        }
    }

    private static List<Callable<Long>> waiters(
            int number, List<CompetitorSession> clients, ExclusionCounter exclusion) {
        List<Callable<Long>> waiters = new ArrayList<>();
        for (int waiter = 0; waiter < number; waiter++) {
            int client = waiter % clients.size();
            waiters.add(() -> {
                HeldGrant held = clients.get(client).acquire(LOCK);
                exclusion.enter(client, held);
                exclusion.leave();
                held.release();
                return System.nanoTime();
            });
        }
        return waiters;
    }

    private static RoundMeasurements measurements(int waiters, double seconds, Map<String, Long> requests) {
        Map<String, Double> values = RoundMeasurements.inOrder();
        values.put("hand-offs/s", waiters / seconds);
        if (!requests.isEmpty()) {
            values.put("requests per hand-off", CompetitorRoundRunner.sum(requests) / (double) waiters);
        }
        return new RoundMeasurements(values, RoundMeasurements.per(waiters, requests), "hand-off");
    }
}

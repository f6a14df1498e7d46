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

/** Two hundred waiters behind one holder: how long it takes until all have had the lock, and how many requests. */
final class CrowdScenario implements Scenario {
    private static final String LOCK = "crowd";
    private static final int CLIENTS = 10;
    private static final int WAITERS = 200;
    private static final int FEW_CLIENTS = 4;
    private static final int FEW_WAITERS = 40;
    private static final Duration IN_LINE = Duration.ofMillis(100);
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @Override
    public String name() {
        return "crowd";
    }

    @Override
    public String description() {
        return WAITERS + " waiters of " + CLIENTS + " clients (smoke: " + FEW_WAITERS + " of " + FEW_CLIENTS
                + ") behind one holder, from its release on";
    }

    /** It begins when all stand in the queue. */
    @Override
    public boolean suits(Competitor competitor) {
        return !competitor.polls();
    }

    @Override
    public RoundMeasurements run(CompetitorRound trial) throws Exception {
        int waiters = trial.effort().times(WAITERS, FEW_WAITERS);
        int sessions = trial.effort().times(CLIENTS, FEW_CLIENTS);
        ExclusionCounter exclusion = trial.shared(LOCK);
        CompetitorSession first = trial.open();
        HeldGrant holder = first.acquire(LOCK);
        exclusion.enter(sessions, holder);
        List<CompetitorSession> clients = new ArrayList<>();
        for (int client = 0; client < sessions; client++) {
            clients.add(trial.open());
        }
        try (WorkerThreads workers = new WorkerThreads(trial.toString(), waiters)) {
            List<Future<Long>> waiting = workers.start(waiters(waiters, clients, exclusion));
            QuiescenceWait.await(trial, IN_LINE, workers::allWait);
            Map<String, Long> before = trial.backend().requests();
            long start = System.nanoTime();
            exclusion.leave();
            holder.release();
            long end = start;
            for (long ended : workers.await(waiting, LIMIT)) {
                end = Math.max(end, ended);
            }
            return figures(waiters, (end - start) / 1e9, trial.workSince(before));
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

    private static RoundMeasurements figures(int waiters, double seconds, Map<String, Long> requests) {
        Map<String, Double> values = RoundMeasurements.inOrder();
        values.put("hand-offs/s", waiters / seconds);
        if (!requests.isEmpty()) {
            values.put("requests a hand-off", CompetitorRound.sum(requests) / (double) waiters);
        }
        return new RoundMeasurements(values, RoundMeasurements.per(waiters, requests), "hand-off");
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import io.mortise.lock.benchmark.backend.Contender;
import io.mortise.lock.benchmark.backend.Held;
import io.mortise.lock.benchmark.backend.Session;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;

/** Two hundred waiters behind one holder: how long it takes until all have had the lock, and how many requests. */
final class Crowd implements Scenario {
    private static final String LOCK = "crowd";
    private static final int CLIENTS = 10;
    private static final int WAITERS = 200;
    private static final Duration IN_LINE = Duration.ofMillis(100);
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @Override
    public String name() {
        return "crowd";
    }

    @Override
    public String description() {
        return WAITERS + " waiters of " + CLIENTS + " clients behind one holder, from its release on";
    }

    /** It begins when all stand in line. */
    @Override
    public boolean suits(Contender contender) {
        return !contender.polls();
    }

    @Override
    public Figures run(Trial trial) throws Exception {
        Exclusion exclusion = trial.shared(LOCK);
        Session first = trial.open();
        Held holder = first.acquire(LOCK);
        exclusion.enter(CLIENTS, holder);
        List<Session> clients = new ArrayList<>();
        for (int client = 0; client < CLIENTS; client++) {
            clients.add(trial.open());
        }
        try (Workers workers = new Workers(trial.toString(), WAITERS)) {
            List<Future<Long>> waiting = workers.start(waiters(clients, exclusion));
            Quiet.await(trial, IN_LINE, workers::allWait);
            Map<String, Long> before = trial.backend().requests();
            long start = System.nanoTime();
            exclusion.leave();
            holder.release();
            long end = start;
            for (long ended : workers.await(waiting, LIMIT)) {
                end = Math.max(end, ended);
            }
            return figures((end - start) / 1e9, trial.workSince(before));
        }
    }

    private static List<Callable<Long>> waiters(List<Session> clients, Exclusion exclusion) {
        List<Callable<Long>> waiters = new ArrayList<>();
        for (int waiter = 0; waiter < WAITERS; waiter++) {
            int client = waiter % CLIENTS;
            waiters.add(() -> {
                Held held = clients.get(client).acquire(LOCK);
                exclusion.enter(client, held);
                exclusion.leave();
                held.release();
                return System.nanoTime();
            });
        }
        return waiters;
    }

    private static Figures figures(double seconds, Map<String, Long> requests) {
        Map<String, Double> values = Figures.inOrder();
        values.put("hand-offs/s", WAITERS / seconds);
        if (!requests.isEmpty()) {
            values.put("requests a hand-off", Trial.sum(requests) / (double) WAITERS);
        }
        return new Figures(values, Figures.per(WAITERS, requests), "hand-off");
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.scenario;

import io.mortise.lock.benchmark.backend.Competitor;
import io.mortise.lock.benchmark.backend.CompetitorSession;
import io.mortise.lock.benchmark.backend.HeldGrant;
import io.mortise.lock.benchmark.backend.WriteRoundTripProbe;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;

/** Counts the round trips of an operation: its time over a slow link, divided by the time of one bare request. */
final class RoundTripsScenario implements Scenario {
    private static final String LOCK = "round-trips";
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final int WAITS_IN_LINE = 3;

    private final Duration roundTrip;

    RoundTripsScenario(Duration roundTrip) {
        this.roundTrip = roundTrip;
    }

    @Override
    public String name() {
        return "round-trips";
    }

    @Override
    public String description() {
        return "times in round trips, at " + roundTrip.toMillis() + " ms each";
    }

    @Override
    public Duration roundTrip() {
        return roundTrip;
    }

    /** Its hand-off begins when the other is queued. */
    @Override
    public boolean suits(Competitor competitor) {
        return !competitor.polls();
    }

    @Override
    public RoundMeasurements run(CompetitorRound trial) throws Exception {
        int times = trial.effort().times(15, 3);
        CompetitorSession session = trial.open();
        CompetitorSession other = trial.open();
        try (WriteRoundTripProbe bare = trial.roundTrip();
                WorkerThreads workers = new WorkerThreads(trial.toString(), 1)) {
            List<Long> bareNanos = new ArrayList<>(bare(bare, times));
            cycles(trial, session, true, 1); // makes the lock's own node where there is one
            double async = median(cycles(trial, session, false, times));
            bareNanos.addAll(bare(bare, times));
            double awaited = median(cycles(trial, session, true, times));
            bareNanos.addAll(bare(bare, times));
            double handOff = median(handOffs(trial, session, other, workers, times));
            bareNanos.addAll(bare(bare, times));
            double one = median(bareNanos);
            Map<String, Double> values = RoundMeasurements.inOrder();
            values.put("a round trip, ms", one / 1e6);
            values.put("cycle, async release", async / one);
            values.put("cycle, release awaited", awaited / one);
            values.put("hand-off", handOff / one);
            return RoundMeasurements.of(values);
        }
    }

    private static List<Long> bare(WriteRoundTripProbe bare, int times) throws Exception {
        List<Long> nanos = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            long start = System.nanoTime();
            bare.once();
            nanos.add(System.nanoTime() - start);
        }
        return nanos;
    }

    private static List<Long> cycles(CompetitorRound trial, CompetitorSession session, boolean awaited, int times)
            throws Exception {
        ExclusionCounter exclusion = trial.shared(LOCK);
        List<Long> nanos = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            long start = System.nanoTime();
            HeldGrant held = session.acquire(LOCK);
            exclusion.enter(0, held);
            exclusion.leave();
            if (awaited) {
                held.release();
            } else {
                held.releaseAsync();
            }
            nanos.add(System.nanoTime() - start);
        }
        return nanos;
    }

    /** From the call of release to the other's grant. */
    private List<Long> handOffs(
            CompetitorRound trial, CompetitorSession session, CompetitorSession other, WorkerThreads workers, int times)
            throws Exception {
        ExclusionCounter exclusion = trial.shared(LOCK);
        List<Long> nanos = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            HeldGrant held = session.acquire(LOCK);
            exclusion.enter(0, held);
            List<Future<Long>> waiting = workers.start(List.of(() -> {
                HeldGrant next = other.acquire(LOCK);
                long granted = System.nanoTime();
                exclusion.enter(1, next);
                exclusion.leave();
                next.release();
                return granted;
            }));
            QuiescenceWait.await(trial, roundTrip.multipliedBy(WAITS_IN_LINE), workers::allWait);
            exclusion.leave();
            long released = System.nanoTime();
            held.release();
            nanos.add(workers.await(waiting, LIMIT).get(0) - released);
        }
        return nanos;
    }

    private static double median(List<Long> nanos) {
        List<Long> sorted = new ArrayList<>(nanos);
        Collections.sort(sorted);
        return sorted.get(sorted.size() / 2);
    }
}
